import { archive } from './archive.js';
import { firstLoad } from './first-load.js';
import type { Measure } from './measure.js';
import { cameraTable, tape } from './pages.js';
import { recovery } from './recovery.js';
import { soak } from './soak.js';
import { wall16, wall36 } from './walls.js';

/** In the order of the budgets, but for the one that takes half an hour. */
export const measures: readonly Measure[] = [
  firstLoad,
  wall16,
  wall36,
  recovery,
  archive,
  tape,
  cameraTable,
  soak,
];
