import { signal } from '@preact/signals';
import { onHappening } from './happenings.js';
import { asProblem, type Problem } from './problem.js';
import { api, me, onAnotherUser } from './session.js';
import type { Layout as Stored } from './types.js';

export type Layout = Stored & { readonly revision: string };
export type LayoutChanges = Partial<Omit<Stored, 'id' | 'owner'>>;

/** The own layouts and those that are shared; null: not known yet. */
export const layouts = signal<readonly Layout[] | null>(null);
export const layoutsProblem = signal<Problem | null>(null);

const byName = new Intl.Collator(undefined, { numeric: true });

onAnotherUser(() => {
  layouts.value = null;
  layoutsProblem.value = null;
});

export const loadLayouts = async (): Promise<void> => {
  const owner = me.peek()?.username;
  try {
    const rows = await api<Layout[]>('GET', '/api/layouts');
    if (me.peek()?.username !== owner) return;
    layouts.value = rows.sort((a, b) => byName.compare(a.name, b.name));
    layoutsProblem.value = null;
  } catch (fault) {
    if (me.peek()?.username === owner) layoutsProblem.value = asProblem(fault);
  }
};

/** Keeps the list as long as a page shows it. */
export const watchLayouts = (): (() => void) => {
  void loadLayouts();
  return onHappening((happening) => {
    if (happening.topic === 'reset' || (happening.topic === 'config' && /^layouts\b/.test(happening.id)))
      void loadLayouts();
  });
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

/** One after another. */
export const changeLayout = (layout: Layout, changes: LayoutChanges): Promise<void> => {
  queued += 1;
  changing = changing
    .catch(() => {})
    .then(async () => {
      const { revision } = made?.id === layout.id ? made : layout;
      const path = `/api/layouts/${encodeURIComponent(layout.id)}`;
      made = await api<Layout>('PUT', path, { body: changes, ifMatch: `"${revision}"` });
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
