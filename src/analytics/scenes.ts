import { asItIs, boxOf, type Transformation, within } from './coordinates.js';
import { classOf } from './labels.js';
import type { Scene, SceneObject } from './metadata.js';
import { all, at, attribute, type Element, utcMs } from './xml-tree.js';

const MAX_FRAMES = 64;
const MAX_OBJECTS = 64;
const MAX_ID = 64;

const objectOf = (object: Element, frame: Transformation): SceneObject | null => {
  // It is told of for the last time, where it was.
  if (at(object, 'Behaviour', 'Removed') !== undefined) return null;
  const appearance = at(object, 'Appearance');
  const box = boxOf(at(appearance, 'Shape'), within(frame, appearance));
  if (box === null) return null;
  return { ...classOf(object), box, trackId: attribute(object, 'ObjectId').slice(0, MAX_ID) };
};

const sceneOf = (frame: Element, outer: Transformation): Scene => {
  const by = within(outer, frame);
  const objects = all(frame, 'Object')
    .slice(0, MAX_OBJECTS)
    .map((object) => objectOf(object, by))
    .filter((object) => object !== null);
  return { utcMs: utcMs(attribute(frame, 'UtcTime')), objects };
};

/** The pictures of which a document tells, as it tells of them; several entries for one time are one picture. */
export const scenesOf = (root: Element | undefined): Scene[] => {
  const told = all(root, 'VideoAnalytics').flatMap((analytics) => {
    const outer = within(asItIs, analytics);
    return all(analytics, 'Frame')
      .slice(0, MAX_FRAMES)
      .map((frame) => sceneOf(frame, outer));
  });
  const scenes: Scene[] = [];
  for (const scene of told.slice(0, MAX_FRAMES)) {
    const same = scene.utcMs === null ? -1 : scenes.findIndex(({ utcMs }) => utcMs === scene.utcMs);
    if (same < 0) scenes.push(scene);
    else {
      const objects = [...scenes[same]!.objects, ...scene.objects].slice(0, MAX_OBJECTS);
      scenes[same] = { ...scene, objects };
    }
  }
  return scenes;
};
