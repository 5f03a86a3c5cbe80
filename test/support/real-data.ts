import { join } from 'node:path';

/** Where real models and pictures are, if somebody has some. */
export const realData =
  process.env['FRAMERING_TEST_DATA'] ?? join(import.meta.dirname, '../../..', '../shared/data');
