// The theme that the web app was set to in this browser, before anything is drawn. By the system's where it is refused.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch {}
