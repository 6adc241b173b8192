export { type Checkpoint, FencedError, takeCheckpoint } from './checkpoint.ts';
export { followAlone, type Follower, type FollowerOptions } from './follower.ts';
export { messageFor, type MessageSubject } from './message.ts';
export { catchUp, type CatchUpOptions } from './projection.ts';
export { relay, type RelayOptions } from './relay.ts';
