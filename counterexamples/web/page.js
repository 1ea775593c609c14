"use strict";
(() => {
  const data = JSON.parse(document.getElementById("cp-data").textContent);
  const chapters = [...document.querySelectorAll(".cp-chapter")];
  const steps = new Map();
  let current = null;
  document.body.classList.add("cp-live");

  const panelsOf = (chapter) => [...chapter.querySelectorAll(".cp-exhibit")];
  const chapterOf = (name) => document.getElementById(data[name].chapter);

  function showChapter(chapter) {
    for (const other of chapters) other.hidden = other !== chapter;
    for (const link of document.querySelectorAll("[data-chapter]")) {
      if (link.dataset.chapter === chapter.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }

  function show(name) {
    const chapter = chapterOf(name);
    showChapter(chapter);
    for (const panel of panelsOf(chapter)) panel.hidden = panel.id !== name;
    for (const tab of chapter.querySelectorAll("[role=tab]")) {
      const chosen = tab.dataset.exhibit === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    const place = document.getElementById(name).querySelector(".cp-source-place");
    place.append(chapter.querySelector(".cp-sources"));
    current = name;
    go(steps.has(name) ? steps.get(name) : data[name].steps.length);
  }

  function go(number) {
    const exhibit = data[current];
    const last = exhibit.steps.length;
    const step = Math.min(Math.max(number, 0), last);
    steps.set(current, step);
    const panel = document.getElementById(current);
    panel.querySelector(".cp-slider").value = String(step);
    panel.querySelector(".cp-slider").setAttribute("aria-valuetext", `step ${step} of ${last}`);
    panel.querySelector(".cp-count").textContent = `${step} of ${last}`;
    tell(panel, exhibit, step);
    for (const row of panel.querySelectorAll("[data-place]")) {
      const values = exhibit.places[Number(row.dataset.place)];
      const cell = row.querySelector(".cp-value");
      cell.firstChild.textContent = values[step] || "–";
      const changed = step > 0 && values[step] !== values[step - 1];
      row.classList.toggle("cp-changed", changed);
      cell.title = changed ? `before: ${values[step - 1] || "–"}` : "";
    }
    for (const row of panel.querySelectorAll("[data-truth]")) {
      const value = exhibit.truths[Number(row.dataset.truth)][step];
      const cell = row.querySelector(".cp-truth");
      cell.textContent = value || "–";
      cell.className = `cp-truth cp-${value || "none"}`;
    }
    for (let each = 1; each <= last; each++) {
      const group = document.getElementById(`${current}-step-${each}`);
      if (!group) continue;
      group.classList.toggle("cp-at", each === step);
      group.classList.toggle("cp-future", each > step);
    }
    const end = document.getElementById(`${current}-conclusion`);
    if (end) end.classList.toggle("cp-future", step < last);
    mark(panel, exhibit, step);
    const link = `#${current}/step-${step}`;
    if (location.hash !== link) history.replaceState(null, "", link);
  }

  function tell(panel, exhibit, step) {
    const now = panel.querySelector(".cp-now");
    now.replaceChildren();
    const sentence = document.createElement("p");
    const told = document.createElement("bdi");
    told.textContent = step === 0 ? "the initial state" : exhibit.steps[step - 1].text;
    sentence.append(told);
    now.append(sentence);
    if (step === 0) return;
    now.className = `cp-now cp-${exhibit.steps[step - 1].kind}`;
    const list = document.createElement("ul");
    for (const change of exhibit.steps[step - 1].changes) {
      const item = document.createElement("li");
      const text = document.createElement("bdi");
      text.textContent = change;
      item.append(text);
      list.append(item);
    }
    if (exhibit.loop !== null && step === exhibit.steps.length) {
      const item = document.createElement("li");
      item.textContent = exhibit.loop === step ? "and stays there for ever" : `and on with step ${exhibit.loop + 1}, for ever`;
      list.append(item);
    }
    if (list.childElementCount) now.append(list);
  }

  function mark(panel, exhibit, step) {
    for (const line of panel.querySelectorAll(".cp-line-now")) {
      line.classList.remove("cp-line-now");
      line.removeAttribute("aria-current");
    }
    const at = step === 0 ? null : exhibit.steps[step - 1];
    if (at === null || at.line === null) return;
    for (const file of panel.querySelectorAll(".cp-file")) {
      if (file.dataset.file !== at.file) continue;
      file.open = true;
      const list = file.querySelector(".cp-lines");
      const line = list.children[at.line - 1];
      if (!line) return;
      line.classList.add("cp-line-now");
      line.setAttribute("aria-current", "true");
      list.scrollTop = line.offsetTop - list.offsetTop - list.clientHeight / 2;
    }
  }

  function filter(panel) {
    const lane = panel.querySelector(".cp-lane").value;
    const wanted = panel.querySelector(".cp-find").value.trim().toLowerCase();
    for (const row of panel.querySelectorAll("[data-place]")) {
      const name = `${row.dataset.lane}.${row.querySelector("th").textContent}`.toLowerCase();
      row.hidden = (lane !== "" && row.dataset.lane !== lane) || !name.includes(wanted);
    }
    data[panel.id].steps.forEach((step, index) => {
      const group = document.getElementById(`${panel.id}-step-${index + 1}`);
      if (group) group.classList.toggle("cp-aside", lane !== "" && !step.lanes.includes(lane));
    });
  }

  function follow() {
    const [name, step] = decodeURIComponent(location.hash.slice(1)).split("/");
    if (Object.hasOwn(data, name)) {
      const number = /^step-(\d+)$/.exec(step || "");
      if (number) steps.set(name, Number(number[1]));
      show(name);
      return true;
    }
    const chapter = chapters.find((each) => each.id === name);
    if (chapter) {
      openChapter(chapter);
      return true;
    }
    return false;
  }

  function openChapter(chapter) {
    const first = panelsOf(chapter)[0];
    if (first) show(first.id);
    else {
      showChapter(chapter);
      current = null;
    }
    window.scrollTo(0, 0);
  }

  function neighbour(by) {
    const names = [...chapterOf(current).querySelectorAll("[role=tab]")].map((tab) => tab.dataset.exhibit);
    return names[(names.indexOf(current) + by + names.length) % names.length];
  }

  const goTo = {
    first: () => 0,
    previous: (at) => at - 1,
    next: (at) => at + 1,
    last: () => Infinity,
  };

  document.addEventListener("click", (event) => {
    const at = event.target.closest("[data-go],[data-exhibit],[data-chapter],[data-line],.cp-figure g[id]");
    if (!at) return;
    if (at.dataset.go) go(goTo[at.dataset.go](steps.get(current)));
    else if (at.dataset.exhibit) {
      event.preventDefault();
      show(at.dataset.exhibit);
      if (at.getAttribute("role") !== "tab") document.getElementById(current).scrollIntoView();
    } else if (at.dataset.chapter) {
      event.preventDefault();
      openChapter(document.getElementById(at.dataset.chapter));
      if (current === null) history.replaceState(null, "", `#${at.dataset.chapter}`);
    } else if (at.matches("a[data-line]")) {
      const line = document.getElementById(at.getAttribute("href").slice(1));
      if (!line) return;
      event.preventDefault();
      line.closest("details").open = true;
      line.scrollIntoView({ block: "center" });
      line.tabIndex = -1;
      line.focus();
    } else {
      const step = new RegExp(`^${current}-step-(\\d+)$`.replaceAll(".", "\\.")).exec(at.closest("g[id*=step-]")?.id || "");
      if (step) go(Number(step[1]));
    }
  });

  document.addEventListener("input", (event) => {
    if (event.target.matches(".cp-slider")) go(Number(event.target.value));
    else if (event.target.matches(".cp-lane,.cp-find")) filter(event.target.closest(".cp-exhibit"));
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || current === null) return;
    const target = event.target;
    if (target.matches("[role=tab]")) {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by) {
        event.preventDefault();
        show(neighbour(by));
        document.getElementById(`${current}-tab`).focus();
        return;
      }
    }
    if (target.matches("input,select,textarea")) return;
    const move = { ArrowRight: "next", ArrowLeft: "previous", Home: "first", End: "last" }[event.key];
    if (move && !target.matches("[role=tab]")) {
      event.preventDefault();
      go(goTo[move](steps.get(current)));
    } else if (event.key === "[" || event.key === "]") {
      event.preventDefault();
      show(neighbour(event.key === "]" ? 1 : -1));
    }
  });

  window.addEventListener("hashchange", follow);
  if (!follow()) openChapter(chapters[0]);
})();
