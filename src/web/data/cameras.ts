import { computed, effect, signal } from '@preact/signals';
import { onHappening } from './happenings.js';
import { applyChanges, Looks } from './looks.js';
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

export const loadCameras = async (): Promise<void> => {
  const look = looks.begin();
  try {
    const [cameraRows, folderRows, tagRows] = await Promise.all([
      api<Camera[]>('GET', '/api/cameras'),
      api<Folder[]>('GET', '/api/folders'),
      api<Tag[]>('GET', '/api/tags'),
    ]);
    const told = looks.answered(look);
    if (told === null) return;
    const next = new Map(cameraRows.map((camera) => [camera.id, camera]));
    applyChanges(next, told);
    cameras.value = next;
    folders.value = folderRows;
    tags.value = tagRows;
    camerasProblem.value = null;
  } catch (fault) {
    if (looks.answered(look) !== null) camerasProblem.value = asProblem(fault);
  } finally {
    looks.end();
  }
};

const pending = new Map<string, object>();
let isFlushing = false;

/** Many cameras may change in the same moment: they are shown together. */
const flush = (): void => {
  isFlushing = false;
  const changes = [...pending];
  pending.clear();
  if (cameras.value === null) return;
  const next = new Map(cameras.value);
  const isAnyNew = applyChanges(next, changes);
  cameras.value = next;
  if (isAnyNew) void loadCameras();
};

const change = (id: string, set: object): void => {
  looks.tell([id, set]);
  const before = pending.get(id);
  pending.set(id, before === undefined || 'deleted' in set ? set : { ...before, ...set });
  if (isFlushing) return;
  isFlushing = true;
  requestAnimationFrame(flush);
};

const forget = (): void => {
  looks.forget();
  pending.clear();
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

/** While a page shows figures of cameras, they are read anew every few seconds; the result ends that. */
export const watchFigures = (): (() => void) => {
  const timer = setInterval(() => {
    if (!document.hidden) void loadCameras();
  }, FIGURES_EVERY_MS);
  return () => clearInterval(timer);
};

/** What is shown of a camera's name: its comment's first line where there is one. */
export const nameOf = (camera: Camera): string => camera.comment.split('\n')[0]?.trim() || camera.id;
