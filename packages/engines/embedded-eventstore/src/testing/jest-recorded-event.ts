import type { RecordedEvent } from '../events.ts';

/** The first event of a log, with these fields changed. */
export const recordedEvent = (fields: Partial<RecordedEvent> = {}): RecordedEvent => ({
  position: 1n,
  stream: 's',
  revision: 0n,
  id: '',
  type: 'T',
  isJson: true,
  createdTicks: 0n,
  data: new Uint8Array(),
  metadata: new Uint8Array(),
  ...fields,
});
