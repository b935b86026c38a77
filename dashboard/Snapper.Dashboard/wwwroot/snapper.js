// Theme before the first paint, and files that the page makes. Nothing is fetched from elsewhere.
(() => {
  const key = 'snapper-theme';
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const stored = () => { try { return localStorage.getItem(key); } catch { return null; } };
  const apply = () => { document.documentElement.dataset.theme = stored() ?? (dark.matches ? 'dark' : 'light'); };
  apply();
  dark.addEventListener('change', apply);

  // Before the connection is there nobody hears what is typed or pressed: nothing is taken that would be lost. The menu of narrow windows is opened here.
  const waits = (e) => e.target.closest?.('.shell[aria-busy] :is(button, select, input, textarea, summary)') && !e.target.closest('.holder, .menu');
  const isBrowsers = (e) => e.ctrlKey || e.metaKey || e.altKey || /^(Tab|Escape|F\d+)$/.test(e.key);
  for (const kind of ['keydown', 'beforeinput']) document.addEventListener(kind, (e) => { if (waits(e) && !isBrowsers(e)) e.preventDefault(); }, true);
  document.addEventListener('click', (e) => {
    const menu = e.target.closest?.('.shell[aria-busy] .menu');
    if (menu) menu.setAttribute('aria-expanded', menu.closest('.shell').classList.toggle('menu-open'));
  });
  window.snapper = {
    theme() {
      const next = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
      try { localStorage.setItem(key, next); } catch { /* a private window: for this page only */ }
      document.documentElement.dataset.theme = next;
    },
    save(name, type, text) {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    },
  };
})();
