import type { z } from 'zod';
import type { cameraSchema, cameraTestResultSchema, newCameraSchema } from '../../http/camera-schemas.js';
import type { Layout as StoredLayout } from '../../http/layout-schemas.js';
import type { modelSchema } from '../../http/model-schema.js';
import type { discoverySchema, onvifProbeResultSchema, presetSchema } from '../../http/onvif-schemas.js';

import type { clusterSchema } from '../../http/routes/cluster.js';
import type { keySchema, madeKeySchema } from '../../http/routes/keys.js';
import type { settingsSchema } from '../../http/routes/settings.js';
import type { historySchema, statsSchema } from '../../http/routes/stats.js';
import type { folderSchema, tagSchema } from '../../http/schemas.js';
import type { madeWebhookSchema, webhookSchema, webhookTestSchema } from '../../http/webhook-schemas.js';

/** What the service answers, as its own schemas have it. */
export type Camera = z.infer<typeof cameraSchema>;
export type Model = z.infer<typeof modelSchema>;
export type NewCamera = z.input<typeof newCameraSchema>;
export type CameraTestResult = z.infer<typeof cameraTestResultSchema>;
export type OnvifDiscovery = z.infer<typeof discoverySchema>;
export type OnvifProbeResult = z.infer<typeof onvifProbeResultSchema>;
export type Preset = z.infer<typeof presetSchema>;
export type Cluster = z.infer<typeof clusterSchema>;
export type Folder = z.infer<typeof folderSchema>;
export type Tag = z.infer<typeof tagSchema>;
export type ApiKey = z.infer<typeof keySchema>;
export type MadeApiKey = z.infer<typeof madeKeySchema>;
export type Webhook = z.infer<typeof webhookSchema>;
export type MadeWebhook = z.infer<typeof madeWebhookSchema>;
export type WebhookTest = z.infer<typeof webhookTestSchema>;
export type Layout = StoredLayout;
export type Settings = z.infer<typeof settingsSchema>;
export type Stats = z.infer<typeof statsSchema>;
export type StatsHistory = z.infer<typeof historySchema>;
