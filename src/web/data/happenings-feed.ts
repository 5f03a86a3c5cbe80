import { computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals';
import type { FromSocketWorker, SocketState } from '../socket/socket-messages.js';
import { WallSocket } from '../socket/wall-socket.js';
import { followStream } from './event-stream.js';
import { type Happening, tellHappening } from './happenings.js';
import { noteServiceTick } from './service-clock.js';
import { api, call, me, refreshMe } from './session.js';

type State = SocketState['state'];

/** How the socket stands that brings live pictures, if the page has one: it brings what happens, too. */
export const pictureSocket = signal<State>('closed');

/** Pictures may be about to be shown, whose socket brings it. */
const BEGIN_AFTER_MS = 500;
/** A page that nobody sees hears nothing from then on, and looks at everything when it is seen again. */
const UNSEEN_AFTER_MS = 30_000;
/** Nothing else is tried meanwhile. */
const TOKEN_WITHIN_MS = 8_000;

const isSeen = signal(true);
const ownSocket = signal<State>('closed');

const tell = (type: string, data: string): void => {
  if (type === 'reset') tellHappening({ topic: 'reset' });
  else if (data !== '') tellHappening(JSON.parse(data) as Happening);
};

/** A socket without pictures. */
const beginSocket = (): (() => void) => {
  const socket = new WallSocket((message) => onSocket(message));
  const onSocket = (message: FromSocketWorker): void => {
    if (message.op === 'wants-token') void bringToken();
    else if (message.op === 'tick') noteServiceTick(message.serverMs, message.atMs);
    else if (message.op === 'happening') tellHappening(message.happening);
    else if (message.op === 'state') onState(message.state.state);
  };
  const bringToken = async (): Promise<void> => {
    const asked = api<{ token: string }>('GET', '/api/wall-token', { timeoutMs: TOKEN_WITHIN_MS });
    const token = await asked.then(
      (answer) => answer.token,
      () => null,
    );
    socket.take({ op: 'token', token });
  };
  const onState = (state: State): void => {
    ownSocket.value = state;
    // What changed before has to be looked at.
    if (state === 'open') tellHappening({ topic: 'reset' });
    else if (state === 'refused') void refreshMe().catch(() => {});
  };
  const url = new URL('/stream/wall', location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  const onOnline = (): void => socket.take({ op: 'wake', isNew: true });
  addEventListener('online', onOnline);
  const timer = setTimeout(() => socket.take({ op: 'open', url: url.href }), BEGIN_AFTER_MS);
  return () => {
    clearTimeout(timer);
    removeEventListener('online', onOnline);
    socket.take({ op: 'close' });
  };
};

const beginStream = (): (() => void) => {
  const ended = new AbortController();
  const open = (): Promise<Response> => call('GET', '/api/events/stream', { signal: ended.signal });
  void followStream(open, tell, ended.signal);
  return () => ended.abort();
};

const watchSeen = (): void => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hide = (): void => {
    isSeen.value = false;
  };
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(hide, UNSEEN_AFTER_MS);
    else isSeen.value = true;
  });
};

/** Anew for each user. */
const asLongAs = (username: ReadonlySignal<string | null>, begin: () => () => void): void => {
  effect(() => (username.value === null ? undefined : untracked(begin)));
};

/**
 * Hears what happens as long as somebody is signed in, by a socket: browsers open six connections to a host and no more,
 * and each stream of events would hold one. Where sockets are blocked there is a stream all the same.
 */
export const startHappenings = (): void => {
  watchSeen();
  const mayOpen = computed(() => me.value?.permissions.includes('wall.open') === true);
  const listener = computed(() => {
    const mayHear = me.value?.permissions.includes('events.read') === true;
    return mayHear && isSeen.value ? (me.value?.username ?? null) : null;
  });
  const isBlocked = computed(() => pictureSocket.value === 'blocked' || ownSocket.value === 'blocked');
  asLongAs(
    computed(() => (mayOpen.value && pictureSocket.value === 'closed' ? listener.value : null)),
    beginSocket,
  );
  asLongAs(
    computed(() => (isBlocked.value || !mayOpen.value ? listener.value : null)),
    beginStream,
  );
};
