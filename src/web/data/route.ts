import { computed, signal } from '@preact/signals';

/** Where the page is: its address is the only place that knows. */
const address = signal(new URL(location.href));

export const path = computed(() => address.value.pathname);
export const query = computed(() => address.value.searchParams);

type MayLeave = (leave: () => void) => boolean;
const asked = new Set<MayLeave>();

/** Asked before another page is shown; whoever answers false keeps the user here, until `leave` is called. */
export const beforeLeaving = (mayLeave: MayLeave): (() => void) => {
  asked.add(mayLeave);
  return () => void asked.delete(mayLeave);
};

const isKept = (leave: () => void): boolean => ![...asked].every((mayLeave) => mayLeave(leave));

/** Where in the browser's history this is: what went back is told from what went forward by it. */
let nth = 0;
const nthOf = (state: unknown): number | null =>
  typeof state === 'object' && state !== null && 'nth' in state && typeof state.nth === 'number'
    ? state.nth
    : null;

/** Shows another page, or the same one with other parameters. */
export const navigate = (to: string, { isReplaced = false } = {}): void => {
  const next = new URL(to, address.peek());
  if (next.href === address.peek().href) return;
  const isLeft = next.pathname !== address.peek().pathname;
  if (isLeft && isKept(() => navigate(to, { isReplaced }))) return;
  if (!isReplaced) nth += 1;
  history[isReplaced ? 'replaceState' : 'pushState']({ nth }, '', next);
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
  if (to.origin !== location.origin || /^\/(?:api|exports|docs|stream|hls|models)(?:\/|$)/.test(to.pathname))
    return;
  // A place on this page is for the browser to go to.
  if (to.hash !== '' && to.pathname === location.pathname && to.search === location.search) return;
  event.preventDefault();
  navigate(to.href);
};

/** Back or forward: the browser is there already, and is sent back where somebody has to be asked. */
const followHistory = ({ state }: PopStateEvent): void => {
  const steps = (nthOf(state) ?? nth) - nth;
  const isLeft = location.pathname !== address.peek().pathname;
  if (isLeft && steps !== 0 && isKept(() => history.go(steps))) {
    history.go(-steps);
    return;
  }
  nth += steps;
  address.value = new URL(location.href);
};

export const startRouting = (): void => {
  nth = nthOf(history.state) ?? history.length;
  history.replaceState({ nth }, '');
  addEventListener('popstate', followHistory);
  document.addEventListener('click', followLink);
};
