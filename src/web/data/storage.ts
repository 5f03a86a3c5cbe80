/** What this device, or this tab, keeps for pages. */
export type Kept = {
  /** Undefined: storage is refused, so nobody knows. */
  get(name: string): string | null | undefined;
  set(name: string, value: string | null): void;
};

type Place = {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
};

/** Browsers may refuse storage, even to say that it is there: then nothing is kept, and that is all. */
const keptIn = (find: () => Place): Kept => ({
  get: (name) => {
    try {
      return find().getItem(name);
    } catch {
      return undefined;
    }
  },
  set: (name, value) => {
    try {
      if (value === null) find().removeItem(name);
      else find().setItem(name, value);
    } catch {
      // Refused, or full.
    }
  },
});

const places = globalThis as unknown as { readonly localStorage: Place; readonly sessionStorage: Place };

/** For all tabs, until it is taken away. */
export const deviceStorage = keptIn(() => places.localStorage);
/** For this tab, until it is closed. */
export const tabStorage = keptIn(() => places.sessionStorage);
