/**
 * Metadata documents in the forms that cameras send them in: written for these tests, after what vendors' documents have
 * in common and in what they differ.
 */

const stream = (prefix: string, inside: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<${prefix}:MetadataStream xmlns:${prefix}="http://www.onvif.org/ver10/schema" ` +
  `xmlns:wsnt="http://docs.oasis-open.org/wsn/b-2" xmlns:tns1="http://www.onvif.org/ver10/topics">${inside}</${prefix}:MetadataStream>`;

const iso = (ms: number): string => new Date(ms).toISOString();

export type Drawn = {
  readonly id?: string;
  readonly type?: string;
  readonly likelihood?: number;
  /** Of the picture: x, y, width, height. */
  readonly box: readonly [number, number, number, number];
};

/** In ONVIF's own coordinates. */
const sides = ([x, y, width, height]: Drawn['box']): string =>
  `left="${x * 2 - 1}" top="${1 - y * 2}" right="${(x + width) * 2 - 1}" bottom="${1 - (y + height) * 2}"`;

/** The newer form: `Type` with its likelihood; no transformation. */
export const modern = (atMs: number, objects: readonly Drawn[]): string =>
  stream('tt', `<tt:VideoAnalytics>${frame(atMs, objects)}</tt:VideoAnalytics>`);

const frame = (atMs: number, objects: readonly Drawn[]): string =>
  `<tt:Frame UtcTime="${iso(atMs)}">${objects.map(modernObject).join('')}</tt:Frame>`;

const modernObject = ({ id, type = 'Human', likelihood = 0.9, box }: Drawn): string =>
  `<tt:Object${id === undefined ? '' : ` ObjectId="${id}"`}><tt:Appearance><tt:Shape><tt:BoundingBox ${sides(box)}/>` +
  `<tt:CenterOfGravity x="0" y="0"/></tt:Shape><tt:Class><tt:Type Likelihood="${likelihood}">${type}</tt:Type></tt:Class>` +
  '</tt:Appearance></tt:Object>';

/** Several pictures in one document. */
export const several = (frames: readonly (readonly [atMs: number, objects: readonly Drawn[]])[]): string =>
  stream(
    'tt',
    `<tt:VideoAnalytics>${frames.map(([atMs, objects]) => frame(atMs, objects)).join('')}</tt:VideoAnalytics>`,
  );

/** The older form, with pixels of a picture of 640x480 whose origin is at the bottom left, in the frame. */
export const pixels = (
  atMs: number,
  { id = '12', type = 'Vehicle', likelihood = 0.8, box }: Drawn,
): string => {
  const [x, y, width, height] = box;
  const at = `left="${x * 640}" right="${(x + width) * 640}" top="${(1 - y) * 480}" bottom="${(1 - y - height) * 480}"`;
  return stream(
    'tt',
    `<tt:VideoAnalytics><tt:Frame UtcTime="${iso(atMs)}"><tt:Transformation><tt:Translate x="-1" y="-1"/>` +
      `<tt:Scale x="${2 / 640}" y="${2 / 480}"/></tt:Transformation><tt:Object ObjectId="${id}"><tt:Appearance><tt:Class>` +
      `<tt:ClassCandidate><tt:Type>${type}</tt:Type><tt:Likelihood>${likelihood}</tt:Likelihood></tt:ClassCandidate></tt:Class>` +
      `<tt:Shape><tt:BoundingBox ${at}/></tt:Shape></tt:Appearance></tt:Object></tt:Frame></tt:VideoAnalytics>`,
  );
};

/** Another prefix, y pointing down, the transformation with each object inside that of the frame, no ids. */
export const nested = (atMs: number, { type = 'Face', likelihood = 70, box }: Drawn): string => {
  const [x, y, width, height] = box;
  const at = `bottom="${(y + height) * 1000}" left="${x * 1000}" right="${(x + width) * 1000}" top="${y * 1000}"`;
  return stream(
    'ns2',
    `<ns2:VideoAnalytics><ns2:Frame UtcTime="${iso(atMs).replace('Z', '+00:00')}"><ns2:Transformation><ns2:Scale x="2" y="2"/>` +
      '<ns2:Translate x="-1" y="-1"/></ns2:Transformation><ns2:Object><ns2:Appearance><ns2:Transformation>' +
      '<ns2:Translate x="0" y="1"/><ns2:Scale x="0.001" y="-0.001"/></ns2:Transformation>' +
      `<ns2:Shape><ns2:BoundingBox ${at}/></ns2:Shape><ns2:Class><ns2:Type Likelihood="${likelihood}">${type}</ns2:Type></ns2:Class>` +
      '</ns2:Appearance></ns2:Object></ns2:Frame></ns2:VideoAnalytics>',
  );
};

export type Told = {
  readonly topic: string;
  readonly operation?: 'Initialized' | 'Changed' | 'Deleted';
  readonly source?: Readonly<Record<string, string>>;
  readonly data?: Readonly<Record<string, string>>;
};

const items = (values: Readonly<Record<string, string>> = {}): string =>
  Object.entries(values)
    .map(([name, value]) => `<tt:SimpleItem Name="${name}" Value="${value}"/>`)
    .join('');

/** What a camera noticed. */
export const notification = (atMs: number, { topic, operation, source, data }: Told): string =>
  stream(
    'tt',
    '<tt:Event><wsnt:NotificationMessage><wsnt:Topic Dialect="http://www.onvif.org/ver10/tev/topicExpression/ConcreteSet">' +
      `${topic}</wsnt:Topic><wsnt:Message><tt:Message UtcTime="${iso(atMs)}"` +
      `${operation === undefined ? '' : ` PropertyOperation="${operation}"`}><tt:Source>${items(source)}</tt:Source>` +
      `<tt:Data>${items(data)}</tt:Data></tt:Message></wsnt:Message></wsnt:NotificationMessage></tt:Event>`,
  );

/** What no parser should be given. */
export const hostile: Readonly<Record<string, string>> = {
  'billion laughs': `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol">${Array.from(
    { length: 9 },
    (_, i) => `<!ENTITY ${'abcdefghij'[i + 1]} "${`&${'abcdefghij'[i]};`.repeat(10)}">`,
  ).join('')}]><tt:MetadataStream xmlns:tt="x">&j;</tt:MetadataStream>`,
  'an outside entity':
    '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><MetadataStream>&b;</MetadataStream>',
  'a hundred levels': `<MetadataStream>${'<a>'.repeat(100)}${'</a>'.repeat(100)}</MetadataStream>`,
  'levels without end': '<MetadataStream>'.repeat(5_000),
  'many elements': `<MetadataStream>${'<a/>'.repeat(20_000)}</MetadataStream>`,
  'ten megabytes': `<MetadataStream>${'x'.repeat(10_000_000)}</MetadataStream>`,
  'a comment without end': `<MetadataStream><!--${'<!--'.repeat(20_000)}`,
  'a tag without end': `<MetadataStream ${'a="b" '.repeat(20_000)}`,
  'a quote without end': `<MetadataStream a="${'>'.repeat(100_000)}`,
  truncated: modern(0, [{ box: [0, 0, 0.5, 0.5] }]).slice(0, -40),
  'other ends': '<MetadataStream><a><b></a></b></MetadataStream>',
  'two roots': '<MetadataStream/><MetadataStream/>',
  'no document': 'hello',
  nothing: '',
  'another document': '<a:Envelope xmlns:a="b"/>',
};
