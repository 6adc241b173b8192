export { type BesideOptions, ProjectionFault } from './beside.ts';
export { type Checkpoint, FencedError, takeCheckpoint } from './checkpoint.ts';
export { followAlone, type Follower, type FollowerOptions } from './follower.ts';
export { messageFor, type MessageSubject } from './message.ts';
export { catchUp, type CatchUpOptions, type Projection } from './projection.ts';
export { type ProjectionCommandOptions, runProjectionCommand } from './projection-command.ts';
export { rebuild } from './rebuild.ts';
export { relay, type RelayOptions } from './relay.ts';
export { type Difference, type Verification, verify } from './verify.ts';
