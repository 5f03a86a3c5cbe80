/** Which rows are chosen, and from where on a range is. */
export type Selection = { readonly ids: ReadonlySet<string>; readonly anchor: string | null };

export const noSelection: Selection = { ids: new Set(), anchor: null };

export const toggled = ({ ids }: Selection, id: string): Selection => {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { ids: next, anchor: id };
};

/** Adds all from the anchor to this one, as they are shown. */
export const extended = (selection: Selection, order: readonly string[], id: string): Selection => {
  const { ids, anchor } = selection;
  const [from, to] = [anchor === null ? -1 : order.indexOf(anchor), order.indexOf(id)];
  if (to < 0) return selection;
  if (from < 0) return { ids: new Set([...ids, id]), anchor: id };
  const range = order.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { ids: new Set([...ids, ...range]), anchor };
};

/** All of these, or none if they are chosen already. */
export const allToggled = ({ ids }: Selection, order: readonly string[]): Selection =>
  order.every((id) => ids.has(id)) ? noSelection : { ids: new Set(order), anchor: order[0] ?? null };

/** Those that are shown still: nothing is done to a camera that nobody sees. */
export const keptIn = (selection: Selection, order: readonly string[]): Selection => {
  const shown = new Set(order);
  const kept = [...selection.ids].filter((id) => shown.has(id));
  return kept.length === selection.ids.size ? selection : { ids: new Set(kept), anchor: selection.anchor };
};
