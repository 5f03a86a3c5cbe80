/**
 * How what was configured is changed: by whatever `work` does with the store, whole or not at all; what it throws is thrown.
 * It has no other effects, since it may be done again when others changed something meanwhile.
 */
export type Change = <T>(work: () => T) => Promise<T>;
