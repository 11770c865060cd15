// What a test of the page looks at from inside. Each function is evaluated on its own.
({
  // Visible text whose colour is too close to its ground (WCAG AA): a list of sentences.
  lowContrast() {
    const parse = (text) => {
      const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
      return [r, g, b, a];
    };
    const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
    const light = (colour) => {
      const [r, g, b] = colour.slice(0, 3).map((v) => v / 255)
        .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (a, b) => {
      const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
      return (x + 0.05) / (y + 0.05);
    };
    // Grounds that may lie under an element: over a picture both white and black.
    const grounds = (element) => {
      const layers = [];
      let picture = false;
      for (let at = element; at; at = at.parentElement) {
        const colour = parse(getComputedStyle(at).backgroundColor);
        if (at.classList.contains('picture')) picture = true;
        if (colour[3] > 0 && !(picture && at.classList.contains('picture'))) layers.unshift(colour);
        if (colour[3] === 1) {
          picture = false;
          break;
        }
        if (picture) break;
      }
      const bottoms = picture ? [[255, 255, 255, 1], [0, 0, 0, 1]] : [[255, 255, 255, 1]];
      return bottoms.map((bottom) => layers.reduce((below, top) => over(top, below), bottom));
    };
    const offences = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      const words = node.textContent.trim();
      if (!words || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      if (element.closest('.hidden, .skip, :disabled, script, style, datalist')) continue;
      const style = getComputedStyle(element);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      for (const ground of grounds(element)) {
        const found = ratio(over(parse(style.color), ground), ground);
        if (found < (large ? 3 : 4.5)) offences.push(`${found.toFixed(2)}:1 "${words.slice(0, 40)}"`);
      }
    }
    return offences;
  },
  // Controls without a name for screen readers.
  nameless() {
    return [...document.querySelectorAll('button, input:not([hidden]), a, [role="img"]')]
      .filter((e) => e.checkVisibility())
      .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length || e.title))
      .map((e) => e.outerHTML.slice(0, 80));
  },
  // How far the page is wider than its window.
  overflow() {
    return document.documentElement.scrollWidth - document.documentElement.clientWidth;
  },
  // Controls that are too small for a finger (WCAG 2.2 AA: 24 px).
  tiny() {
    return [...document.querySelectorAll('button, input:not([hidden])')].filter((e) => e.checkVisibility())
      .filter((e) => e.getBoundingClientRect().height < 24 || e.getBoundingClientRect().width < 24)
      .map((e) => e.outerHTML.slice(0, 80));
  },
})
