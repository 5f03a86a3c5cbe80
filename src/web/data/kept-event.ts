/** What happened, as the service keeps it. */
export type KeptEvent = {
  readonly id: string;
  readonly camera_id: string;
  readonly type: 'camera_lost' | 'recording_gap' | 'storage' | 'detection' | 'motion' | 'rule';
  readonly label: string;
  readonly score: number | null;
  readonly from: string;
  readonly to: string | null;
  readonly protected: boolean;
  readonly detail: string;
  readonly reviewed: boolean;
};

/** Which events are wanted; without either all of them. */
export type What = { readonly types?: readonly string[]; readonly labels?: readonly string[] };

const LABEL = 'label:';
/** What one goes to; that a disk was full is no scene. */
const SCENES = ['detection', 'motion', 'rule', 'camera_lost'];

/** What the parameter `what` of an address asks for: `label:person` is a label, all else a kind of event. */
export const whatOf = (what: string | null): What => {
  if (what === null) return {};
  return what.startsWith(LABEL) ? { labels: [what.slice(LABEL.length)] } : { types: [what] };
};

/** The same of what one goes to: where nothing of that is asked for, all of it. */
export const scenesOf = (what: string | null): What => {
  const { types: asked = [], ...labels } = whatOf(what);
  const types = SCENES.filter((type) => asked.includes(type));
  return { types: types.length > 0 ? types : SCENES, ...labels };
};
