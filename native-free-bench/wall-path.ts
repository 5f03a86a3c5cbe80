/** Where the engine has walls; any other path is a camera. */
export const WALL_PATH = 'wall';
