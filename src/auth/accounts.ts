import type { Change } from '../base/change.js';
import type { Clock } from '../base/clock.js';
import { AppError } from '../base/errors.js';
import type { FactTable } from '../store/facts.js';
import type { LoginTable } from '../store/logins.js';
import type { Role, StoredUser, User, UserTable } from '../store/users.js';
import { authError } from './auth-error.js';
import { LoginLimiter } from './login-limiter.js';
import { LoginPlaces } from './login-places.js';
import {
  checkPasswordRule,
  generatePassword,
  hashPassword,
  isWeakHash,
  verifyPassword,
} from './passwords.js';
import type { HeldSession, Sessions } from './sessions.js';
import type { Principal, Tokens } from './tokens.js';
import type { Viewers } from './viewers.js';
import { WorkGate } from './work-gate.js';

export type { User } from '../store/users.js';

/** Half of the thread pool's usual four threads: files, DNS and compression need the others. */
const HASHES_AT_ONCE = 2;
const HASHES_WAITING = 64;

const UNAVAILABLE: ReadonlySet<string> = new Set(['database_unavailable', 'cluster_unavailable']);

/** What an update of a user may change: the fields that are present. */
export type AccountChanges = {
  readonly password?: string;
  readonly role?: Role;
  /** Sees what is in these alone; null: everything. */
  readonly folders?: readonly string[] | null;
};

export type AccountsDeps = {
  readonly change: Change;
  readonly users: UserTable;
  readonly logins: LoginTable;
  readonly facts: Pick<FactTable, 'text' | 'setText'>;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly viewers: Viewers;
  readonly clock: Clock;
};

const badCredentials = (): AppError => authError('bad_credentials', 'the username or the password is wrong');

/** Whoever manages users would lift the own limit. */
const checkLimit = ({
  role,
  folders,
}: {
  role: Role;
  folders?: readonly string[] | null | undefined;
}): void => {
  if (role === 'admin' && (folders ?? null) !== null)
    throw authError('admin_limited', 'an admin sees everything: only other roles can be limited to folders');
};

/** The users: their logins and their passwords. Whoever loses rights here stops watching at once. */
export class Accounts {
  readonly #change: Change;
  readonly #users: UserTable;
  readonly #facts: AccountsDeps['facts'];
  readonly #tokens: Tokens;
  readonly #sessions: Sessions;
  readonly #viewers: Viewers;
  readonly #places: LoginPlaces;
  readonly #limiter: LoginLimiter;
  readonly #gate = new WorkGate({ maxRunning: HASHES_AT_ONCE, maxWaiting: HASHES_WAITING });

  /** `secret` keys what is kept of addresses. */
  constructor(secret: Buffer, deps: AccountsDeps) {
    this.#change = deps.change;
    this.#users = deps.users;
    this.#facts = deps.facts;
    this.#tokens = deps.tokens;
    this.#sessions = deps.sessions;
    this.#viewers = deps.viewers;
    this.#places = new LoginPlaces(secret, deps);
    this.#limiter = new LoginLimiter({
      clock: deps.clock,
      isHome: (address, username) => this.#places.isHome(address, username),
    });
  }

  /**
   * An access token for the right password; throws `bad_credentials`, `too_many_attempts` or `login_busy`, the
   * last two with `details.retryAfterSec`.
   */
  async login(username: string, password: string, address: string): Promise<string> {
    return this.#tokens.issueAccess(await this.#enter(username, password, address));
  }

  /** The same, and a session for the browser that it came from: null where none could be begun. */
  async signIn(
    username: string,
    password: string,
    address: string,
    { isRemembered, userAgent = '' }: { readonly isRemembered: boolean; readonly userAgent?: string },
  ): Promise<{ token: string; session: HeldSession | null }> {
    return this.#sessions.begin(await this.#enter(username, password, address), isRemembered, userAgent);
  }

  /**
   * Makes the user `admin` if there is no admin at all, and answers whether it did. `show` gets the password
   * before it is stored: a crash in between means another password at the next start, not a lost one.
   */
  async ensureAdmin(show: (account: { username: string; password: string }) => void): Promise<boolean> {
    if (this.#users.hasAdmin()) return false;
    const username = 'admin';
    const password = generatePassword();
    const password_hash = await hashPassword(password);
    show({ username, password });
    return this.#change(() => {
      if (this.#users.hasAdmin()) return false;
      const admin =
        this.#users.find(username) === null
          ? this.#users.create({ username, password_hash, role: 'admin' })
          : this.#users.update(username, { password_hash, role: 'admin' });
      this.#facts.setText('first_admin_epoch', admin.token_epoch);
      return true;
    });
  }

  /** Whether the password is still the one that `ensureAdmin` made, which stood on a console. */
  mustChangePassword(username: string): boolean {
    return this.#users.find(username)?.token_epoch === this.#facts.text('first_admin_epoch');
  }

  has(username: string): boolean {
    return this.#users.find(username) !== null;
  }

  /** All users, sorted by name. */
  list(): User[] {
    return this.#users.list();
  }

  /** Throws `bad_password`, `admin_limited` or `exists`. */
  async create(account: {
    readonly username: string;
    readonly password: string;
    readonly role: Role;
    readonly folders?: readonly string[];
  }): Promise<User> {
    const { password, ...user } = account;
    checkLimit(user);
    const password_hash = await this.#hash(password);
    await this.#change(() => this.#users.create({ ...user, password_hash }));
    return user;
  }

  /**
   * Another role, password or folders end the user's tokens and viewings; throws `bad_password`, `admin_limited`,
   * `not_found` or `last_admin`.
   */
  async update(username: string, changes: AccountChanges): Promise<User> {
    const { password, role, folders } = changes;
    const password_hash = password === undefined ? undefined : await this.#hash(password);
    const { before, after } = await this.#change(() => {
      const before = this.#users.find(username);
      if (before !== null)
        checkLimit({ role: role ?? before.role, folders: folders === undefined ? before.folders : folders });
      const after = this.#users.update(username, {
        ...(password_hash === undefined ? {} : { password_hash }),
        ...(role === undefined ? {} : { role }),
        ...(folders === undefined ? {} : { folders }),
      });
      return { before, after };
    });
    if (after.token_epoch !== before?.token_epoch) this.#viewers.endForUser(username);
    return { username, role: after.role, ...(after.folders && { folders: after.folders }) };
  }

  /**
   * Another password for whoever knows the old one: a token of it. All others of the user end, with what is watched by
   * them, and all sessions but the one that this token came of. Throws `wrong_password`, `bad_password`,
   * `token_revoked`, or as `login` does.
   */
  async changePassword(
    { username, epoch, sessionId }: Principal,
    { old, wanted }: { readonly old: string; readonly wanted: string },
    address: string,
  ): Promise<string> {
    checkPasswordRule(wanted);
    await this.#enter(username, old, address, () => authError('wrong_password', 'the old password is wrong'));
    const password_hash = await this.#hash(wanted);
    const after = await this.#change(() => {
      // Two may have come at once: the first one counts.
      if (this.#users.find(username)?.token_epoch !== epoch)
        throw authError('token_revoked', 'the token was withdrawn meanwhile: log in again');
      return this.#users.update(username, { password_hash }, sessionId);
    });
    this.#viewers.endForUser(username);
    return this.#tokens.issueAccess(after, sessionId);
  }

  /** Ends the user's tokens and viewings; throws `not_found` or `last_admin`. */
  async remove(username: string): Promise<void> {
    await this.#change(() => this.#users.remove(username));
    this.#viewers.endForUser(username);
  }

  /** A key that nobody has was shown from there; throws `too_many_attempts`. */
  wrongKey(address: string): void {
    this.#limiter.fail(address);
  }

  #hash(password: string): Promise<string> {
    checkPasswordRule(password);
    return this.#gate.run(() => hashPassword(password));
  }

  /** Whose password this is. Throws as `login` does, or what a wrong one is to be called. */
  #enter(
    username: string,
    password: string,
    address: string,
    wrong: () => AppError = badCredentials,
  ): Promise<StoredUser> {
    this.#limiter.check(address, username);
    return this.#gate.run(async () => {
      // Again, now that it is its turn: those before it may have failed.
      const attempt = this.#limiter.begin(address, username);
      let isFailure = false;
      try {
        const user = await this.#authenticate(username, password);
        isFailure = user === null;
        if (user === null) throw wrong();
        await this.#welcome(user, password, address);
        return user;
      } finally {
        attempt.end(isFailure);
      }
    });
  }

  async #authenticate(username: string, password: string): Promise<StoredUser | null> {
    const user = this.#users.find(username);
    const isRight = await verifyPassword(password, user?.password_hash ?? null);
    if (user === null || !isRight) return null;
    // The password that was checked must still be the password: it may have been changed meanwhile, not just renewed.
    const now = this.#users.find(username);
    const isSame = now?.password_hash === user.password_hash || now?.token_epoch === user.token_epoch;
    return isSame ? now : null;
  }

  /** Remembers where from, and makes the hash as strong as they are today. Neither is worth a failed login. */
  async #welcome(
    { username, password_hash: hash }: StoredUser,
    password: string,
    address: string,
  ): Promise<void> {
    try {
      this.#places.note(address, username);
      if (!isWeakHash(hash)) return;
      const stronger = await hashPassword(password);
      await this.#change(() => this.#users.renewHash(username, hash, stronger));
    } catch (thrown) {
      if (!(thrown instanceof AppError) || !UNAVAILABLE.has(thrown.code)) throw thrown;
    }
  }
}
