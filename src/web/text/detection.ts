import { catalogue } from './catalogue.js';

/** Which detections of a camera count. */
export const detectionText = catalogue({
  title: 'Detection',
  labels: 'What is looked for',
  labelsHint: 'As the model names it: person, car, dog. Empty: everything that it knows.',
  minScore: 'Least certainty, %',
  minScoreHint: 'Empty: as the model has it.',
  minSize: 'Least size, % of the picture',
  minSizeHint: 'Empty: any size.',
  schedule: 'Times',
  noSchedule: 'Objects are looked for at all times.',
  scheduleHint:
    'Objects are looked for at these times alone, by the clocks of the site ({zone}). What ends before it begins ends on the next day, and midnight is an end, too.',
  addHours: 'Add hours',
  hours: 'Hours {nth}',
  hoursFrom: 'From',
  hoursTo: 'To',
  removeHours: 'Remove hours {nth}',
  zones: 'Zones',
  noZones: 'Without zones all of the picture counts.',
  zonesHint:
    'An object stands where the middle of its lower edge is. Drag corners, or move them with arrows; dots between two add one.',
  newZone: 'Zone {nth}',
  noName: '(no name)',
  addInclude: 'Zone that counts',
  addExclude: 'Zone that does not',
  zoneName: 'Name of the zone',
  kind: 'Objects in it',
  include: 'count',
  exclude: 'don’t count',
  includeHint: 'Where there is such a zone, nothing outside of these counts.',
  excludeHint: 'Nothing that stands in it counts, in other zones either.',
  corners: 'Corners, in % of the picture',
  corner: 'Corner',
  fromLeft: 'From left',
  fromTop: 'From top',
  cornerLeft: 'Corner {nth}, from left in %',
  cornerTop: 'Corner {nth}, from top in %',
  cornerAt: 'Corner {nth}: {x} % from left, {y} % from top',
  cornerKeys: 'Arrows move it, with shift faster; Delete takes it away.',
  cornerKeysLeast: 'Arrows move it, with shift faster.',
  addCorner: 'Add a corner after {nth}',
  removeCorner: 'Take corner {nth} away',
  removeZone: 'Remove this zone',
  picture: 'What the camera sees now',
  noPicture: 'There is no picture of the camera now. Zones can be drawn nevertheless.',
  loading: 'Loading the picture…',
});

export const dayText = catalogue({
  ...{ mon: 'Mon', tue: 'Tue', wed: 'Wed', thu: 'Thu', fri: 'Fri', sat: 'Sat', sun: 'Sun' },
});

export const ruleFaultText = catalogue({
  no_days: 'Choose a day.',
  no_time: 'A time is missing.',
  same_time: 'From and to must be different times.',
  no_name: 'A zone needs a name.',
  long_name: 'At most 64 characters.',
  twice: 'Another zone has this name.',
  many_labels: 'At most 100.',
  long_label: 'At most 64 characters each.',
  no_fraction: 'From 0 to 100.',
});
