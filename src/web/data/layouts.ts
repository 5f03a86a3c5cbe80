import { signal } from '@preact/signals';
import { onHappening } from './happenings.js';
import { Looks } from './looks.js';
import { asProblem, Problem } from './problem.js';
import { api, onAnotherUser } from './session.js';
import type { Layout as Stored } from './types.js';

export type Layout = Stored & { readonly revision: string };
export type LayoutChanges = Partial<Omit<Stored, 'id' | 'owner'>>;

/** The own layouts and those that are shared; null: not known yet. */
export const layouts = signal<readonly Layout[] | null>(null);
export const layoutsProblem = signal<Problem | null>(null);

const byName = new Intl.Collator(undefined, { numeric: true });

const looks = new Looks();

onAnotherUser(() => {
  looks.forget();
  layouts.value = null;
  layoutsProblem.value = null;
});

export const loadLayouts = async (): Promise<void> => {
  const look = looks.begin();
  try {
    const rows = await api<Layout[]>('GET', '/api/layouts');
    if (looks.answered(look) === null) return;
    layouts.value = rows.sort((a, b) => byName.compare(a.name, b.name));
    layoutsProblem.value = null;
  } catch (fault) {
    if (looks.answered(look) !== null) layoutsProblem.value = asProblem(fault);
  } finally {
    looks.end();
  }
};

/** Keeps the list as long as a page shows it: of layouts nobody is told, so who comes back to it looks again. */
export const watchLayouts = (): (() => void) => {
  void loadLayouts();
  const onSeen = (): void => void (document.hidden ? null : loadLayouts());
  document.addEventListener('visibilitychange', onSeen);
  const unheard = onHappening(({ topic }) => void (topic === 'reset' ? loadLayouts() : null));
  return () => {
    document.removeEventListener('visibilitychange', onSeen);
    unheard();
  };
};

export const createLayout = async (
  given: { readonly name: string } & Partial<Omit<Stored, 'id' | 'owner' | 'name'>>,
): Promise<Layout> => {
  const made = await api<Layout>('POST', '/api/layouts', { body: given });
  await loadLayouts();
  return made;
};

let changing: Promise<void> = Promise.resolve();
let queued = 0;
/** What the change before made: one that was begun meanwhile knows only what was before, and is no conflict. */
let made: Layout | null = null;

const put = (layout: Layout, changes: LayoutChanges): Promise<Layout> =>
  api('PUT', `/api/layouts/${encodeURIComponent(layout.id)}`, {
    ...{ body: changes, ifMatch: `"${layout.revision}"` },
  });

const isConflict = (fault: unknown): boolean =>
  fault instanceof Problem && fault.code === 'precondition_failed';

/** Somebody else changed it meanwhile: what they did elsewhere in it stays, and where they did the same theirs counts. */
const putAnyhow = async (known: Layout, changes: LayoutChanges): Promise<Layout> => {
  try {
    return await put(known, changes);
  } catch (fault) {
    if (!isConflict(fault)) throw fault;
    await loadLayouts();
    const fresh = layouts.peek()?.find(({ id }) => id === known.id);
    const names = Object.keys(changes) as (keyof LayoutChanges)[];
    const isSame = (name: keyof LayoutChanges): boolean =>
      JSON.stringify(fresh?.[name]) === JSON.stringify(known[name]);
    if (fresh === undefined || !names.every(isSame)) throw fault;
    return await put(fresh, changes);
  }
};

/** One after another. */
export const changeLayout = (layout: Layout, changes: LayoutChanges): Promise<void> => {
  queued += 1;
  changing = changing
    .catch(() => {})
    .then(async () => {
      made = await putAnyhow(made?.id === layout.id ? made : layout, changes);
      await loadLayouts();
    })
    .finally(() => {
      queued -= 1;
      if (queued === 0) made = null;
    });
  return changing;
};

export const deleteLayout = async (layout: Layout): Promise<void> => {
  await api('DELETE', `/api/layouts/${encodeURIComponent(layout.id)}`);
  await loadLayouts();
};
