import type { Notice } from './metadata.js';
import { all, at, attribute, type Element, textOf, utcMs } from './xml-tree.js';

const MAX_NOTICES = 64;
const MAX_ITEMS = 16;
const MAX_TEXT = 128;
const MAX_KEY = 512;
/** Of a topic with all its prefixes. */
const MAX_TOPIC = 512;

/** Where topics begin that are about what a camera sees or hears; others are about the device. */
const perceived = new Set([
  'RuleEngine',
  'VideoAnalytics',
  'VideoSource',
  'AudioAnalytics',
  'UserAlarm',
  'CameraApplicationPlatform',
]);

/** `Motion`, `MotionAlarm` or `MotionDetection` come last; Axis's older application is called VMD. */
const isMotion = (topic: string): boolean => /\/(?:Motion(?:Alarm|Detection)?$|VMD\/)/i.test(topic);

/** Values that rise and fall all the time are no happenings. */
const isCount = (topic: string): boolean => /\/(?:Count\w*|Counter)$/i.test(topic);

/** What says whether something is so: `IsMotion`, `IsInside`, `State`, Axis's `active`. */
const isState = (name: string): boolean =>
  /^(?:Is[A-Z]\w*|State|LogicalState|Active|Alarm|Motion)$/i.test(name);

type Item = { readonly name: string; readonly value: string };

const cut = (text: string): string => text.slice(0, MAX_TEXT).replaceAll(/\p{C}+/gu, ' ');

/** tns1:RuleEngine/LineDetector/Crossed: each part may have a prefix of its own. */
const topicOf = (text: string): string =>
  cut(
    text
      .slice(0, MAX_TOPIC)
      .split('/')
      .map((part) => part.slice(part.lastIndexOf(':') + 1))
      .join('/'),
  );

const itemsOf = (element: Element | undefined): Item[] =>
  all(element, 'SimpleItem')
    .slice(0, MAX_ITEMS)
    .map((item) => ({ name: cut(attribute(item, 'Name')), value: cut(attribute(item, 'Value')) }));

const truth: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

/** Null: nothing is said of a state. */
const stateOf = (data: readonly Item[]): boolean | null => {
  for (const { name, value } of data) {
    const state = isState(name) ? truth[value.toLowerCase()] : undefined;
    if (state !== undefined) return state;
  }
  return null;
};

const noticeOf = (notification: Element): Notice | null => {
  const topic = topicOf(textOf(at(notification, 'Topic')));
  if (!perceived.has(topic.split('/', 1)[0]!) || isCount(topic)) return null;
  const message = at(notification, 'Message', 'Message') ?? at(notification, 'Message');
  const source = itemsOf(at(message, 'Source'));
  const state = stateOf(itemsOf(at(message, 'Data')));
  const operation = attribute(message, 'PropertyOperation').toLowerCase();
  // A property without a state that we know says nothing; a message without one has happened.
  if (state === null && operation !== '' && operation !== 'deleted') return null;
  const rule = source.find(({ name }) => /^Rule(?:Name)?$/i.test(name))?.value ?? '';
  const places = source.map(({ name, value }) => `${name}=${value}`).sort();
  const isOver = operation === 'deleted' || state === false;
  return {
    kind: isMotion(topic) ? 'motion' : 'rule',
    key: [topic, ...places].join(' ').slice(0, MAX_KEY),
    label: rule === '' ? topic : rule,
    topic,
    state: isOver ? 'off' : state === null ? 'once' : 'on',
    utcMs: utcMs(attribute(message, 'UtcTime')),
  };
};

/**
 * What messages say that the camera noticed: of a metadata document, or as a pull point has them. Of too many the newest
 * count: they tell how it is now.
 */
export const readNotices = (messages: readonly Element[]): Notice[] => {
  const found: Notice[] = [];
  for (let index = messages.length - 1; index >= 0 && found.length < MAX_NOTICES; index -= 1) {
    const notice = noticeOf(messages[index]!);
    if (notice !== null) found.push(notice);
  }
  return found.reverse();
};

/** What a document says that the camera noticed. */
export const noticesOf = (root: Element | undefined): Notice[] =>
  readNotices(all(root, 'Event').flatMap((event) => all(event, 'NotificationMessage')));
