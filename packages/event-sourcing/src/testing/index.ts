export { givenFor } from './given.ts';
export { METADATA } from './metadata.ts';
