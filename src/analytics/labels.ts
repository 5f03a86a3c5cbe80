import { all, at, attribute, type Element, number, textOf } from './xml-tree.js';

export type Classification = { readonly label: string; readonly score: number };

const MAX_LABEL = 64;

/** What is seen and not known. */
const UNKNOWN = 'object';

/** Where cameras have other names than models: events and rules are to know one for each. */
const sameAs: ReadonlyMap<string, string> = new Map([
  ['human', 'person'],
  ['humans', 'person'],
  ['human body', 'person'],
  ['pedestrian', 'person'],
  ['people', 'person'],
  ['human face', 'face'],
  ['vehical', 'vehicle'],
  ['bike', 'bicycle'],
  ['motor bike', 'motorcycle'],
  ['motorbike', 'motorcycle'],
  ['plate', 'license plate'],
  ['licence plate', 'license plate'],
  ['other', UNKNOWN],
  ['unknown', UNKNOWN],
  ['unclassified', UNKNOWN],
  ['', UNKNOWN],
]);

/** Names that cameras give in whatever case and joining, as one that people would write: `LicensePlate` is "license plate". */
export const labelOf = (name: string): string => {
  const words = name
    .slice(0, MAX_LABEL)
    .replace(/^[\w.-]*:/, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[\p{C}\s_]+/gu, ' ')
    .trim()
    .toLowerCase();
  return sameAs.get(words) ?? words;
};

/** A likelihood from 0 to 1; some tell percent. What nothing is said of is certain. */
const scoreOf = (text: string): number => {
  const told = number(text) ?? 1;
  return Math.min(Math.max(told > 1 ? told / 100 : told, 0), 1);
};

const MAX_CLASSES = 32;

/** Both forms in which classes are told (ONVIF Analytics §5.3.3), before version 17.06 and since. */
const candidatesOf = (element: Element | undefined): Classification[] =>
  all(element, 'Class')
    .flatMap((told) => [
      ...all(told, 'Type').map((type) => [textOf(type), attribute(type, 'Likelihood')] as const),
      ...[
        ...all(told, 'ClassCandidate'),
        ...all(at(told, 'Extension', 'OtherTypes'), 'ClassCandidate'),
        ...all(at(told, 'Extension'), 'OtherTypes'),
      ].map((candidate) => [textOf(at(candidate, 'Type')), textOf(at(candidate, 'Likelihood'))] as const),
    ])
    .slice(0, MAX_CLASSES)
    .map(([name, likelihood]) => ({ label: labelOf(name), score: scoreOf(likelihood) }));

/** What says of an object what it is where no class does. */
const betraying = [
  ['HumanFace', 'face'],
  ['HumanBody', 'person'],
  ['LicensePlateInfo', 'license plate'],
  ['VehicleInfo', 'vehicle'],
] as const;

/** What an object most likely is. */
export const classOf = (object: Element): Classification => {
  const appearance = at(object, 'Appearance');
  const known = [...candidatesOf(appearance), ...candidatesOf(object)].filter(
    ({ label }) => label !== UNKNOWN,
  );
  const [first, ...others] = known;
  if (first !== undefined)
    return others.reduce((best, next) => (next.score > best.score ? next : best), first);
  const sign = betraying.find(([name]) => at(appearance, name) !== undefined);
  return { label: sign?.[1] ?? UNKNOWN, score: 1 };
};
