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
