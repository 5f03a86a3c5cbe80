/** What a backup holds, as far as a page has to know: the service checks the rest. */
export type Backup = {
  readonly exportedAt: string | null;
  /** Names of what is in it, by kind. */
  readonly names: Readonly<Record<Kind, readonly string[]>>;
  /** As it is sent. */
  readonly content: object;
};

export const kinds = ['cameras', 'folders', 'tags', 'users'] as const;
export type Kind = (typeof kinds)[number];

/** What comes and what goes, of one kind. */
export type Change = {
  readonly kind: Kind;
  readonly now: number;
  readonly afterwards: number;
  readonly comes: readonly string[];
  readonly goes: readonly string[];
};

const nameOf = (thing: unknown): string => {
  const { id, username } = (typeof thing === 'object' && thing !== null ? thing : {}) as Record<
    string,
    unknown
  >;
  return String(username ?? id ?? '');
};

/** Null: it is none. */
export const readBackup = (text: string): Backup | null => {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof content !== 'object' || content === null) return null;
  const fields = content as Record<string, unknown>;
  if (!kinds.every((kind) => Array.isArray(fields[kind]))) return null;
  const namesOf = (kind: Kind): readonly string[] => (fields[kind] as unknown[]).map(nameOf);
  const names = {
    cameras: namesOf('cameras'),
    folders: namesOf('folders'),
    tags: namesOf('tags'),
    users: namesOf('users'),
  };
  const exportedAt = typeof fields['exported_at'] === 'string' ? fields['exported_at'] : null;
  return { exportedAt, names, content };
};

export const changesOf = (
  now: Readonly<Record<Kind, readonly string[]>>,
  backup: Backup,
): readonly Change[] =>
  kinds.map((kind) => {
    const before = new Set(now[kind]);
    const after = new Set(backup.names[kind]);
    return {
      kind,
      now: before.size,
      afterwards: after.size,
      comes: [...after].filter((name) => !before.has(name)),
      goes: [...before].filter((name) => !after.has(name)),
    };
  });
