type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that are there: a schema types an absent one as undefined, an exact optional one may not be that. */
export const withoutAbsent = <T extends object>(fields: T): Present<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
