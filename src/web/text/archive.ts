import { catalogue } from './catalogue.js';

export const archiveText = catalogue({
  title: 'Archive',
  previousDay: 'The day before',
  nextDay: 'The day after',
  day: 'Day',
  today: 'Today',
  cameras: 'Cameras',
  chooseCameras: 'Choose cameras',
  findCamera: 'Find a camera',
  atMost: '{count} at most',
  noCamera: 'Choose up to nine cameras to see what they recorded.',
  noCameras: 'There is no camera yet.',
  addCamera: 'Add a camera',
  play: 'Play',
  pause: 'Pause',
  back: 'Play backwards',
  forward: 'Play forwards, faster each time',
  fiveBack: '5 seconds back',
  fiveForward: '5 seconds on',
  minuteBack: 'A minute back',
  minuteForward: 'A minute on',
  frameBack: 'One picture back',
  frameForward: 'One picture on',
  eventBack: 'The event before',
  eventForward: 'The next event',
  noEvent: 'There is no further event.',
  speed: 'Speed',
  speedNeeds: 'Needs https: this browser plays only simple video here.',
  start: 'Selection starts here',
  end: 'Selection ends here',
  in: 'In',
  out: 'Out',
  clearSelection: 'Clear the selection',
  export: 'Export',
  goTo: 'Go to a time',
  go: 'Go',
  goHint: 'In {zone}',
  live: 'Live',
  toLive: 'To the live picture',
  snapshot: 'Snapshot',
  noSnapshot: 'There is no picture of this moment.',
  boxes: 'Show what was detected',
  sound: 'Sound',
  soundAtOne: 'Sound is heard at 1x.',
  link: 'Copy a link to this moment',
  linkCopied: 'The link to this moment is copied.',
  linkShown: 'Copy this link',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  wholeDay: 'Show the whole day',
  tape: 'Time',
  tapeKeys: 'Arrows: 5 seconds, with shift a minute; plus and minus zoom',
  recorded: 'recorded',
  unknown: 'not known yet',
  future: 'still to come',
  table: 'What was recorded',
  reading: 'Reading what was recorded',
  camera: 'Camera',
  from: 'From',
  to: 'To',
  state: 'State',
  enlarge: 'Make {camera} large',
  remove: 'Take {camera} away',
  gap: 'No recording: {reason}',
  boxAway: 'Recorded by box {box}, which is away',
  boxUnheard: 'No recording known; box {box} may have one, and can not be asked',
  gapUntil: 'until {time}',
  gapFrom: '{from} to {to}',
  skipped: 'Nothing was recorded for {duration}: went on at {time}.',
  atEnd: 'The recording ends here. It goes on when there is more.',
  loading: 'Loading',
  waiting: 'Waiting for pictures',
  pictureFailed: 'This picture could not be shown: {why}',
  gone: 'There is no such camera any more.',
  retrying: 'No pictures for now, trying again: {why}',
  compatible:
    'This page came over plain http, where browsers decode no single pictures: speeds from 0.25 to 4, no single steps.',
  selected: 'selected {from} to {to}, {duration}',
  exportTitle: 'Export',
  exportRange: '{from} to {to} ({duration}), {zone}',
  exportPlanning: 'Looking how large it is…',
  exportOne: 'Download',
  exportAll: 'Download all as one zip ({size})',
  exportFile: '{camera}, {size}',
  exportGaps: 'Gaps within ({count}): the last picture stands still there.',
  exportNothing: 'Nothing was recorded of {camera} then.',
  exportLeftOut: '{camera}, {time}, is left out: {why}',
  exportUntil:
    'These downloads work until {time}. The zip tells checksums (SHA-256), who exported it, and when.',
  exportSelectFirst: 'Select a time first: I and O, or drag with shift.',
  keys: 'Archive',
  keyPlay: 'Play or pause',
  keyBack: 'Backwards',
  keyForward: 'Forwards, faster each time',
  keyZoomIn: 'Zoom the tape in',
  keyZoomOut: 'Zoom the tape out',
  reason_camera_away: 'camera was away',
  reason_disk: 'disk was full, slow or failing',
  reason_start: 'recording was off, or the service did not run',
  reason_format: 'the camera changed its format',
  reason_clock: 'the clock was set',
  reason_deleted: 'deleted',
  reason_unknown: 'reason not known',
  reason_not_recording: 'nothing came, or recording was off',
  reason_no_event: 'nothing happened that was to be kept',
});

/** The service's reasons, in words; one that is new here is shown as it is. */
export const reasonText = (reason: string): string => {
  switch (reason) {
    case 'camera_away':
    case 'disk':
    case 'start':
    case 'format':
    case 'clock':
    case 'deleted':
    case 'unknown':
    case 'not_recording':
    case 'no_event':
      return archiveText(`reason_${reason}`);
    default:
      return reason.replaceAll('_', ' ');
  }
};

/** What is said of a gap; `there`: the box that has what would be there, or may have it. */
export const gapText = (
  reason: string,
  there: { readonly box: string; readonly isSure: boolean } | null,
): string => {
  if (there === null) return archiveText('gap', { reason: reasonText(reason) });
  return archiveText(there.isSure ? 'boxAway' : 'boxUnheard', { box: there.box });
};
