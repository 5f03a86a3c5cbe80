export type { DetectionSettings, DetectionZone } from '../store/cameras.js';
