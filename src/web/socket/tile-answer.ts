/** Why a tile shows nothing, in the service's words. */
export type TileProblem = { readonly status: number; readonly code: string; readonly detail: string };

/** How a tile stands, as the service says. */
export type TileAnswer = {
  readonly tile: number;
  readonly stream: number | null;
  readonly sound: number | null;
  readonly mode: 'all' | 'key' | 'off';
  readonly problem: TileProblem | null;
};
