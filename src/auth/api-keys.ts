import { createHash, randomBytes } from 'node:crypto';
import type { Change } from '../base/change.js';
import { clientNetwork } from '../base/client-address.js';
import type { Clock, MonotonicMs, Timer } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import type { ApiKeyTable, StoredApiKey } from '../store/api-keys.js';
import type { Role } from '../store/users.js';
import { authError } from './auth-error.js';
import type { Limits } from './sight.js';
import type { Viewers } from './viewers.js';

/** By it a key is known wherever it is found: by us, and by those who search published files for secrets. */
export const KEY_PREFIX = 'framering_';
const KEY_BYTES = 32;
const ID_BYTES = 9;

/** No user's name has a colon. */
const NAME_PREFIX = 'key:';

const LOOK_EVERY_MS = 10_000;
const WRITE_EVERY_MS = 60_000;
/** Wrong keys that are remembered. */
const MAX_WRONG = 1_000;

/** Who a key stands for, wherever a user's name would stand. */
export type KeyHolder = {
  readonly username: string;
  readonly role: Role;
  readonly token_epoch: string;
  readonly limits: Limits | null;
};

/** What may be shown of a key. */
export type ApiKey = Omit<StoredApiKey, 'secret_hash'>;

/** What is chosen of a new key. */
export type NewApiKey = Pick<ApiKey, 'name' | 'role' | 'folders' | 'cameras' | 'expires_ms'>;

export type ApiKeysDeps = {
  readonly table: ApiKeyTable;
  readonly change: Change;
  readonly viewers: Pick<Viewers, 'endForUser'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** A key that nobody has was shown from there; throws where that happened too often. */
  readonly onWrong: (address: string) => void;
};

type Known = { stored: StoredApiKey; usedMs: number | null; isEnded: boolean };

/** It has 256 random bits: there is nothing to guess that a slow hash would have to guard, and each request asks. */
const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

export const isKey = (token: string): boolean => token.startsWith(KEY_PREFIX);

/** Whether a name stands for a key, not for a user. */
export const isKeyName = (username: string): boolean => username.startsWith(NAME_PREFIX);

/** What a key is called wherever a user's name would stand. */
export const keyUsername = (name: string): string => `${NAME_PREFIX}${name}`;

/** Keys of programs: each is a token that lasts, with a role and limits of its own. */
export class ApiKeys {
  readonly #deps: ApiKeysDeps;
  #byHash = new Map<string, Known>();
  #byName = new Map<string, Known>();
  /** What was shown in vain, by address: a program that goes on with a key that was deleted guesses nothing. */
  readonly #wrong = new Set<string>();
  readonly #timer: Timer;
  #writtenMs: MonotonicMs;
  #isUnwritten = false;

  constructor(deps: ApiKeysDeps) {
    this.#deps = deps;
    this.#writtenMs = deps.clock.monotonicMs();
    this.#adopt(deps.table.list());
    this.#timer = deps.clock.every(LOOK_EVERY_MS, () => this.#look());
  }

  /** All of them, sorted by name. */
  list(): ApiKey[] {
    return [...this.#byName.values()].map(({ stored: { secret_hash: _, ...shown }, usedMs }) => ({
      ...shown,
      used_ms: usedMs,
    }));
  }

  /** The key itself is known here and now alone. Throws `exists` or `too_many_keys`. */
  async create({ name, role, folders, cameras, expires_ms }: NewApiKey): Promise<{
    readonly key: string;
    readonly made: ApiKey;
  }> {
    const { change, table } = this.#deps;
    const key = `${KEY_PREFIX}${randomBytes(KEY_BYTES).toString('hex')}`;
    const id = randomBytes(ID_BYTES).toString('base64url');
    const made = { id, name, role, folders, cameras, expires_ms, created_ms: this.#deps.clock.wallMs() };
    await change(() => table.create({ ...made, secret_hash: hashOf(key) }));
    this.reload();
    return { key, made: { ...made, used_ms: null } };
  }

  /** Ends all that it opened, and answers its name; throws `not_found`. */
  async remove(id: string): Promise<string> {
    const { change, table } = this.#deps;
    await change(() => table.remove(id));
    const gone = [...this.#byHash.values()].find(({ stored }) => stored.id === id)?.stored;
    if (gone !== undefined) {
      // Before the list is read: a disk that fails then keeps no removed key good.
      this.#byHash.delete(gone.secret_hash);
      this.#byName.delete(keyUsername(gone.name));
      this.#deps.viewers.endForUser(keyUsername(gone.name));
    }
    this.reload();
    return gone?.name ?? '';
  }

  /** Who holds this key; throws `token_invalid`, `token_expired` or `too_many_attempts`. */
  verify(key: string, address: string): KeyHolder {
    const hash = hashOf(key);
    const known = this.#byHash.get(hash);
    if (known === undefined) return this.#refuse(hash, address);
    const nowMs = this.#deps.clock.wallMs();
    if (isOver(known, nowMs)) throw authError('token_expired', 'the key has expired');
    known.usedMs = nowMs;
    this.#isUnwritten = true;
    return holderOf(known.stored);
  }

  /** It was shown otherwise than as it is. */
  noteUse(username: string): void {
    const known = this.#byName.get(username);
    if (known === undefined) return;
    known.usedMs = this.#deps.clock.wallMs();
    this.#isUnwritten = true;
  }

  /** Who has this name; null: nobody now. */
  find(username: string): KeyHolder | null {
    const known = this.#byName.get(username);
    return known === undefined || isOver(known, this.#deps.clock.wallMs()) ? null : holderOf(known.stored);
  }

  /** Takes over what is stored after it was changed elsewhere, too: what is gone ends. */
  reload(): void {
    const before = this.#byName;
    this.#adopt(this.#deps.table.list(), before);
    for (const [username, { stored }] of before) {
      const now = this.#byName.get(username)?.stored;
      if (now === undefined || !isSame(now, stored)) this.#deps.viewers.endForUser(username);
    }
  }

  stop(): void {
    this.#timer.cancel();
    this.#write();
  }

  #adopt(all: readonly StoredApiKey[], before: ReadonlyMap<string, Known> = new Map()): void {
    const known = all.map((stored): Known => {
      const old = before.get(keyUsername(stored.name));
      const usedMs = old?.stored.id === stored.id ? old.usedMs : stored.used_ms;
      return { stored, usedMs, isEnded: false };
    });
    this.#byHash = new Map(known.map((one) => [one.stored.secret_hash, one]));
    this.#byName = new Map(known.map((one) => [keyUsername(one.stored.name), one]));
  }

  #refuse(hash: string, address: string): never {
    const shown = `${clientNetwork(address)} ${hash}`;
    if (!this.#wrong.has(shown)) {
      this.#deps.onWrong(address);
      this.#wrong.add(shown);
      for (const oldest of this.#wrong) {
        if (this.#wrong.size <= MAX_WRONG) break;
        this.#wrong.delete(oldest);
      }
    }
    throw authError('token_invalid', 'there is no such key');
  }

  #look(): void {
    const nowMs = this.#deps.clock.wallMs();
    for (const [username, known] of this.#byName) {
      const isNowOver = isOver(known, nowMs);
      if (isNowOver && !known.isEnded) this.#deps.viewers.endForUser(username);
      known.isEnded = isNowOver;
    }
    if (this.#deps.clock.monotonicMs() - this.#writtenMs >= WRITE_EVERY_MS) this.#write();
  }

  /** Of when they were used, at most once a minute: no request waits for the disk. */
  #write(): void {
    if (!this.#isUnwritten) return;
    this.#writtenMs = this.#deps.clock.monotonicMs();
    const used = [...this.#byHash.values()].flatMap(({ stored: { id }, usedMs }) =>
      usedMs === null ? [] : [[id, usedMs] as const],
    );
    try {
      this.#deps.table.touch(new Map(used));
      this.#isUnwritten = false;
    } catch (thrown) {
      this.#deps.log.warn('the last use of keys could not be written', { reason: messageOf(thrown) });
    }
  }
}

const isOver = ({ stored: { expires_ms: expiresMs } }: Known, nowMs: number): boolean =>
  expiresMs !== null && nowMs >= expiresMs;

const isSame = (one: StoredApiKey, other: StoredApiKey): boolean =>
  JSON.stringify({ ...one, used_ms: null }) === JSON.stringify({ ...other, used_ms: null });

const holderOf = ({ id, name, role, folders, cameras }: StoredApiKey): KeyHolder => ({
  ...{ username: keyUsername(name), role, token_epoch: id },
  limits: folders === null && cameras === null ? null : { folders: folders ?? [], cameras: cameras ?? [] },
});
