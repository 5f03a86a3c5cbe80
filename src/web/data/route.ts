import { computed, signal } from '@preact/signals';

/** Where the page is: its address is the only place that knows. */
const address = signal(new URL(location.href));

export const path = computed(() => address.value.pathname);
export const query = computed(() => address.value.searchParams);

const leave = new Set<(to: string) => boolean>();

/** Asked before another page is shown; whoever answers false keeps the user here. */
export const beforeLeaving = (mayLeave: (to: string) => boolean): (() => void) => {
  leave.add(mayLeave);
  return () => void leave.delete(mayLeave);
};

/** Shows another page, or the same one with other parameters. */
export const navigate = (to: string, { isReplaced = false } = {}): void => {
  const next = new URL(to, address.peek());
  if (next.href === address.peek().href) return;
  if (next.pathname !== address.peek().pathname && ![...leave].every((mayLeave) => mayLeave(to))) return;
  history[isReplaced ? 'replaceState' : 'pushState'](null, '', next);
  address.value = next;
};

/** Changes parameters of the page that is shown; null takes one away. Back goes to where it was, unless replaced. */
export const setQuery = (
  changes: Readonly<Record<string, string | null>>,
  options: { readonly isReplaced?: boolean } = {},
): void => {
  const next = new URL(address.peek());
  for (const [name, value] of Object.entries(changes))
    if (value === null) next.searchParams.delete(name);
    else next.searchParams.set(name, value);
  navigate(next.href, options);
};

/** Links of the app change the page without loading it anew; everything else is the browser's. */
const followLink = (event: MouseEvent): void => {
  if (
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
    return;
  const link = (event.target as Element | null)?.closest?.('a[href]');
  if (!(link instanceof HTMLAnchorElement) || link.target !== '' || link.hasAttribute('download')) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || /^\/(?:api|exports|docs|stream|hls|models)\//.test(to.pathname))
    return;
  // A place on this page is for the browser to go to.
  if (to.hash !== '' && to.pathname === location.pathname && to.search === location.search) return;
  event.preventDefault();
  navigate(to.href);
};

export const startRouting = (): void => {
  addEventListener('popstate', () => {
    address.value = new URL(location.href);
  });
  document.addEventListener('click', followLink);
};
