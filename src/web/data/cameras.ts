import { computed, effect, signal } from '@preact/signals';
import { onHappening } from './happenings.js';
import { addChange, applyChanges, Looks, oneAtATime } from './looks.js';
import { asProblem, type Problem } from './problem.js';
import { api, me, onAnotherUser } from './session.js';
import type { Camera, Folder, Tag } from './types.js';

/** All cameras by id, as far as the user may see them; null: not known yet. */
export const cameras = signal<ReadonlyMap<string, Camera> | null>(null);
export const folders = signal<readonly Folder[]>([]);
export const tags = signal<readonly Tag[]>([]);
/** Why they could not be read, if so; what was known before stays. */
export const camerasProblem = signal<Problem | null>(null);

const byName = new Intl.Collator(undefined, { numeric: true });

export const cameraList = computed(() =>
  [...(cameras.value?.values() ?? [])].sort((a, b) => byName.compare(a.id, b.id)),
);

/** Figures that change all the time are no events: they are looked at so often while a page shows them. */
const FIGURES_EVERY_MS = 5_000;

const looks = new Looks();

/** Folders and tags are told of; only who may have missed that looks at them, too. */
let isAllWanted = false;

const look = oneAtATime(async () => {
  const isAll = isAllWanted;
  isAllWanted = false;
  const begun = looks.begin();
  try {
    const [cameraRows, folderRows, tagRows] = await Promise.all([
      api<Camera[]>('GET', '/api/cameras'),
      isAll ? api<Folder[]>('GET', '/api/folders') : null,
      isAll ? api<Tag[]>('GET', '/api/tags') : null,
    ]);
    const told = looks.answered(begun);
    if (told === null) return;
    const next = new Map(cameraRows.map((camera) => [camera.id, camera]));
    const isAnyNew = applyChanges(next, told);
    cameras.value = next;
    if (folderRows !== null) folders.value = folderRows;
    if (tagRows !== null) tags.value = tagRows;
    camerasProblem.value = null;
    if (isAnyNew) void look();
  } catch (fault) {
    if (looks.answered(begun) !== null) camerasProblem.value = asProblem(fault);
  } finally {
    looks.end();
  }
});

export const loadCameras = (): Promise<void> => {
  isAllWanted = true;
  return look();
};

const waiting = new Map<string, readonly object[]>();
let isFlushing = false;

/** Many cameras may change in the same moment: they are shown together. */
const flush = (): void => {
  isFlushing = false;
  const changes = [...waiting].flatMap(([id, sets]) => sets.map((set) => [id, set] as const));
  waiting.clear();
  if (cameras.value === null) return;
  const next = new Map(cameras.value);
  const isAnyNew = applyChanges(next, changes);
  cameras.value = next;
  if (isAnyNew) void look();
};

const change = (id: string, set: object): void => {
  looks.tell([id, set]);
  addChange(waiting, [id, set]);
  if (isFlushing) return;
  isFlushing = true;
  // A hidden page gets none for hours: what changes meanwhile is shown when it is seen again.
  requestAnimationFrame(flush);
};

const forget = (): void => {
  looks.forget();
  waiting.clear();
  cameras.value = null;
  folders.value = [];
  tags.value = [];
  camerasProblem.value = null;
};

/** Keeps the list as long as somebody is signed in. */
export const startCameras = (): void => {
  onAnotherUser(forget);
  effect(() => {
    if (me.value?.permissions.includes('cameras.list') === true) void loadCameras();
    else forget();
  });
  onHappening((happening) => {
    if (happening.topic === 'reset') void (me.peek() === null ? null : loadCameras());
    else if (happening.topic === 'cameras') change(happening.id, happening.set);
    else if (happening.topic === 'config') {
      const [kind, id = ''] = happening.id.split(/\/(.*)/s);
      if (kind === 'cameras') change(id, happening.set);
      else if (kind === 'folders' || kind === 'tags') void loadCameras();
    }
  });
};

/** While a page shows figures of cameras, they are read anew some seconds after the last; the result ends that. */
export const watchFigures = (): (() => void) => {
  let timer: ReturnType<typeof setTimeout>;
  let isWatched = true;
  const wait = (): void => {
    timer = setTimeout(async () => {
      if (!document.hidden) await look();
      if (isWatched) wait();
    }, FIGURES_EVERY_MS);
  };
  wait();
  return () => {
    isWatched = false;
    clearTimeout(timer);
  };
};

/** They turn round what is written behind them, or can't be seen (Unicode Bidirectional Algorithm, UAX #9 §2). */
const UNSEEN = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** What is shown of a camera's name: its comment's first line where there is one. */
export const nameOf = (camera: Camera): string =>
  camera.comment.split('\n')[0]?.replace(UNSEEN, '').trim() || camera.id;
