/** `{topic, id, set}`: of the thing `id`, the fields in `set` have these values now; `reset`: look at everything. */
export type Happening =
  | { readonly topic: 'cameras' | 'events' | 'storage' | 'config'; readonly id: string; readonly set: object }
  | { readonly topic: 'reset' };

type Listener = (happening: Happening) => void;

const listeners = new Set<Listener>();

/** Pages hear of what changes in the service, whichever way it came. */
export const onHappening = (listener: Listener): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const tellHappening = (happening: Happening): void => {
  for (const listener of listeners) listener(happening);
};
