export { freePort, isFree, listenOn } from './ports.ts';
