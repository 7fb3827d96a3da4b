// Search without a server: the index is loaded with the first key.
(() => {
  const up = document.body.dataset.up;
  const input = document.getElementById("site-search");
  const results = document.getElementById("site-results");
  const LIMIT = 20;
  let loading;

  function load() {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${up}/assets/search-index.js`;
      script.onload = () => {
        const options = { fields: ["heading", "above", "page", "text"], storeFields: ["page", "heading", "shown"] };
        resolve(MiniSearch.loadJS(globalThis.gossipSearchIndex, options));
      };
      script.onerror = reject;
      document.head.append(script);
    });
    return loading;
  }

  async function show() {
    const words = input.value.trim();
    if (words === "") return hide();
    const search = await load();
    if (input.value.trim() !== words) return;
    // What explains a word comes before what only has it.
    const boostDocument = (id) => (id.startsWith("docs/guide/") ? 2 : 1);
    const options = { prefix: true, fuzzy: 0.15, boost: { heading: 4, above: 2, page: 2 }, boostDocument };
    const all = search.search(words, { ...options, combineWith: "AND" });
    const hits = all.length > 0 ? all : search.search(words, { ...options, combineWith: "OR" });
    results.replaceChildren(hits.length === 0 ? element("p", "Nothing was found.") : list(hits.slice(0, LIMIT)));
    results.hidden = false;
  }

  function list(hits) {
    const all = document.createElement("ul");
    for (const { id, page, heading, shown } of hits) {
      const link = document.createElement("a");
      link.href = `${up}/${id}`;
      link.append(element("strong", heading), element("small", `${page} · ${shown}`));
      const item = document.createElement("li");
      item.append(link);
      all.append(item);
    }
    return all;
  }

  function element(tag, text) {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
  }

  function hide() {
    results.hidden = true;
    results.replaceChildren();
  }

  input.addEventListener("input", () => void show());
  input.form.addEventListener("submit", (event) => {
    event.preventDefault();
    results.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      hide();
    } else if (event.key === "/" && !/^(?:INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "ArrowDown" && !results.hidden) {
      const links = [...results.querySelectorAll("a")];
      const next = links[links.indexOf(document.activeElement) + 1];
      if (next !== undefined) {
        event.preventDefault();
        next.focus();
      }
    }
  });
  document.addEventListener("click", (event) => {
    if (!results.contains(event.target) && event.target !== input) hide();
  });
})();
