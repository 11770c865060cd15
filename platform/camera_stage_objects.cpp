// What the stage shows. Photographs only (the package holds drawings too), large enough to fill half
// a frame, and no two alike. The first twelve are the demonstration's.
#include "platform/camera_stage.h"

namespace engram {

const std::vector<StageObject>& stage_objects() {
  static const std::vector<StageObject> kObjects = {
      {"rubber duck", "household/rubberduck.png"},
      {"camera", "hobbies/camera_35mm.png"},
      {"strawberry", "food/fruit/Strawberry2.png"},
      {"elephant", "animals/mammals/elephant.png"},
      {"guitar", "hobbies/music/string/guitar_classical.png"},
      {"owl", "animals/birds/owl.png"},
      {"hammer", "household/tools/hammer.png"},
      {"anemone", "plants/flowers/anemone_red.png"},
      {"kettle", "household/kettle.png"},
      {"zebra", "animals/mammals/equines/zebra.png"},
      {"fire engine", "vehicles/emergency/firetruck.png"},
      {"teddy bear", "animals/mammals/bears/toys/edward_bear.png"},
      {"toolbox", "household/tools/toolbox.png"},
      {"corn", "food/vegetables/corn.png"},
      {"tiger", "animals/mammals/cats/tiger.png"},
      {"balloon", "vehicles/flight/balloon360.png"},
      {"mandarin", "food/fruit/mandarine.png"},
      {"rooster", "animals/birds/rooster.png"},
      {"binoculars", "hobbies/binoculars.png"},
      {"daffodil", "plants/flowers/daffodil.png"},
      {"frog", "animals/amphibians/frog.png"},
      {"bus", "vehicles/masstransit/green_korean_bus.png"},
      {"stethoscope", "medical/stethoscope.png"},
      {"cherries", "food/fruit/Cherry_Stella.png"},
      {"giraffe", "animals/mammals/giraffe.png"},
      {"violin", "hobbies/music/string/violin.png"},
      {"broccoli", "food/vegetables/broccoli.png"},
      {"penguin", "animals/birds/penguin.png"},
      {"pitcher", "household/dishes/pitcher_small.png"},
      {"seahorse", "animals/fish/seahorse.png"},
      {"squirrel", "animals/mammals/rodents/squirrel.png"},
      {"tractor wheel", "vehicles/wheel_tractor.png"},
  };
  return kObjects;
}

}  // namespace engram
