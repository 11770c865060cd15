#include "tools/web/api.h"

#include <utility>

#include <fmt/format.h>

#include "tools/web/api_json.h"
#include "tools/web/api_metrics.h"
#include "tools/web/api_streams.h"
#include "tools/web/api_transfer.h"
#include "tools/web/assets.h"

namespace engram {
namespace {

using OrderKind = Order::Kind;

// One request on its way through a handler.
struct Call {
  const HttpRequest& request;
  const nlohmann::json& fields;  // of the body, read and checked
  std::shared_ptr<HttpReply> reply;
};

enum class Body { none, json, file };

Order order_of(OrderKind kind, std::string label = {}, std::string other = {}) {
  Order order;
  order.kind = kind;
  order.label = std::move(label);
  order.other = std::move(other);
  return order;
}

HttpResponse fresh(std::string json) {
  HttpResponse response;
  response.body = std::move(json);
  response.headers["Cache-Control"] = "no-store";
  return response;
}

bool has_type(const HttpRequest& request, const std::string& type) {
  const auto found = request.headers.find("content-type");
  return found != request.headers.end() && found->second.substr(0, found->second.find(';')) == type;
}

}  // namespace

struct Api::Impl {
  explicit Impl(Live& live) : live(live), broadcast(live), transfer(live) {}

  struct Route {
    const char* method;
    const char* path;
    void (Impl::*handler)(const Call&);
    Body body = Body::none;
    std::vector<JsonField> fields{};
  };
  static const std::vector<Route>& routes();

  void state(const Call& call) { call.reply->answer(fresh(broadcast.state())); }
  void events(const Call& call) { call.reply->stream(broadcast.events()); }
  void video(const Call& call) { call.reply->stream(broadcast.video()); }
  void frame(const Call& call) { call.reply->answer(broadcast.frame()); }
  void learn(const Call& call);
  void undo(const Call& call) {
    Order order = order_of(OrderKind::undo);
    order.count = call.fields.value("steps", 1);
    submit(std::move(order), call);
  }
  void relabel(const Call& call) {
    submit(order_of(OrderKind::relabel, call.fields.at("label")), call);
  }
  void rename(const Call& call) {
    submit(order_of(OrderKind::rename, call.fields.at("from"), call.fields.at("to")), call);
  }
  void forget(const Call& call) {
    submit(order_of(OrderKind::forget, call.fields.at("label")), call);
  }
  void end_task(const Call& call) { submit(order_of(OrderKind::end_task), call); }
  void pause(const Call& call);
  void view(const Call& call);
  void send_file(const Call& call) { transfer.send(call.reply); }
  void receive_file(const Call& call) {
    transfer.receive(call.request.body, counted(OrderKind::merge, call.reply));
  }
  void openapi(const Call& call) {
    call.reply->answer(asset_response(*find_asset("/api/openapi.json"), call.request));
  }
  void health(const Call& call) { call.reply->answer(health_response(live.state())); }
  void metrics(const Call& call) {
    call.reply->answer(metrics_response(live.state(), *orders, http()));
  }

  // Counts an order that is over, and answers.
  std::function<void(const OrderResult&)> counted(OrderKind kind, std::shared_ptr<HttpReply> reply);
  void submit(Order order, const Call& call);

  Live& live;
  Broadcast broadcast;
  Transfer transfer;
  // Shared with orders under way, which may end after the server.
  std::shared_ptr<OrderCounters> orders = std::make_shared<OrderCounters>();
  std::function<HttpCounters()> http = [] { return HttpCounters(); };
};

const std::vector<Api::Impl::Route>& Api::Impl::routes() {
  using F = JsonField::Kind;
  static const JsonField label{"label", F::label};
  static const std::vector<Route> all = {
      {"GET", "/api/state", &Impl::state},
      {"GET", "/api/events", &Impl::events},
      {"GET", "/video.mjpeg", &Impl::video},
      {"GET", "/frame.jpg", &Impl::frame},
      {"POST",
       "/api/learn",
       &Impl::learn,
       Body::json,
       {label, {"frame", F::frame, false}, {"burst", F::flag, false}}},
      {"POST", "/api/undo", &Impl::undo, Body::json, {{"steps", F::count, false}}},
      {"POST", "/api/relabel", &Impl::relabel, Body::json, {label}},
      {"POST", "/api/rename", &Impl::rename, Body::json, {{"from", F::label}, {"to", F::label}}},
      {"POST", "/api/forget", &Impl::forget, Body::json, {label}},
      {"POST", "/api/end-task", &Impl::end_task, Body::json},
      {"POST", "/api/pause", &Impl::pause, Body::json, {{"paused", F::flag}}},
      {"POST",
       "/api/view",
       &Impl::view,
       Body::json,
       {{"mirror", F::flag, false}, {"region", F::region, false}}},
      {"GET", "/api/export", &Impl::send_file},
      {"POST", "/api/import", &Impl::receive_file, Body::file},
      {"GET", "/api/openapi.json", &Impl::openapi},
      {"GET", "/health", &Impl::health},
      {"GET", "/metrics", &Impl::metrics},
  };
  return all;
}

std::function<void(const OrderResult&)> Api::Impl::counted(OrderKind kind,
                                                           std::shared_ptr<HttpReply> reply) {
  return [orders = orders, kind, reply](const OrderResult& result) {
    auto& outcome = !result.status.ok() ? orders->failed
                    : result.skipped    ? orders->skipped
                                        : orders->done;
    ++outcome[std::size_t(kind)];
    reply->answer(order_response(result));
  };
}

void Api::Impl::submit(Order order, const Call& call) {
  const auto done = counted(order.kind, call.reply);
  OrderResult refused;
  refused.status = live.submit(std::move(order), done);
  if (!refused.status.ok()) done(refused);
}

void Api::Impl::learn(const Call& call) {
  Order order = order_of(OrderKind::learn, call.fields.at("label"));
  order.burst = call.fields.value("burst", false);
  if (call.fields.contains("frame")) {
    const auto frame = call.fields.at("frame").get<std::uint64_t>();
    order.sight = broadcast.told(frame);
    if (!order.sight) {
      const std::string sentence = fmt::format(
          "Frame {} is not at hand any more; nothing was learned. Without \"frame\" the newest is.",
          frame);
      return call.reply->answer(error_response(404, "not_found", sentence));
    }
  }
  submit(std::move(order), call);
}

void Api::Impl::pause(const Call& call) {
  const bool paused = call.fields.at("paused");
  live.pause(paused);
  call.reply->answer(json_response({{"paused", paused}}));
}

void Api::Impl::view(const Call& call) {
  const LiveState now = live.state();
  const bool mirror = call.fields.value("mirror", now.mirror);
  Region region{now.region[0], now.region[1], now.region[2], now.region[3]};
  if (const auto asked = call.fields.find("region"); asked != call.fields.end()) {
    region = {asked->at(0), asked->at(1), asked->at(2), asked->at(3)};
  }
  live.set_view(mirror, region, [reply = call.reply, mirror, region](const OrderResult& kept) {
    if (!kept.status.ok()) {
      return reply->answer(error_response(
          Status(kept.status.code(),
                 fmt::format("The view is changed, but not kept for the next start: {}",
                             kept.status.what()))));
    }
    reply->answer(json_response(
        {{"mirror", mirror}, {"region", {region.left, region.top, region.width, region.height}}}));
  });
}

Api::Api(Live& live) : impl_(std::make_unique<Impl>(live)) {}
Api::~Api() = default;

void Api::tell_counters(std::function<HttpCounters()> counters) {
  impl_->http = std::move(counters);
}

std::vector<ApiRoute> Api::routes() {
  std::vector<ApiRoute> routes;
  for (const auto& route : Impl::routes()) routes.push_back({route.method, route.path});
  return routes;
}

void Api::handle(const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
  const Impl::Route* found = nullptr;
  for (const auto& route : Impl::routes()) {
    if (request.path != route.path) continue;
    if (request.method == route.method) {
      found = &route;
      break;
    }
    HttpResponse response = error_response(
        405, "method_not_allowed", fmt::format("{} takes {} only.", route.path, route.method));
    response.headers["Allow"] = route.method;
    return reply->answer(std::move(response));
  }
  if (!found) {
    return reply->answer(error_response(
        404, "not_found", "There is no such address here; /api/openapi.json lists them."));
  }
  // A form of another site cannot send these types without asking first.
  const char* type = found->body == Body::json ? "application/json" : "application/octet-stream";
  if (found->body != Body::none && !has_type(request, type)) {
    return reply->answer(
        error_response(415, "unsupported_media_type",
                       fmt::format("{} takes a body of type {} only.", found->path, type)));
  }
  nlohmann::json fields = nlohmann::json::object();
  if (found->body == Body::json) {
    auto read = read_fields(request.body, found->fields);
    if (!read.ok()) return reply->answer(error_response(read.status()));
    fields = std::move(*read);
  }
  (impl_.get()->*found->handler)({request, fields, reply});
}

}  // namespace engram
