import { type ErrorCode, errorCode } from '../errors.ts';
import type { Api } from './api.ts';
import type { ResponseWriter } from './response-writer.ts';

type Range = Pick<Api, 'key' | 'min' | 'max'>;

/** Lists the supported versions of each API. */
export const apiVersions = (all: () => readonly Range[]): Api => ({
  key: 18,
  name: 'ApiVersions',
  min: 0,
  max: 3,
  flexibleFrom: 3,
  handle: ({ reader, version }) => {
    if (version >= 3) {
      reader.string(); // name of the client software
      reader.string(); // version of the client software
      reader.skipTaggedFields();
    }
    return writeVersions(version, errorCode.none, all());
  },
});

/** Answers an unsupported version in version 0, so that every client can read the supported ones (KIP-511). */
export const unsupportedApiVersions = (all: readonly Range[]) => writeVersions(0, errorCode.unsupportedVersion, all);

const writeVersions = (version: number, error: ErrorCode, all: readonly Range[]) => (response: ResponseWriter) => {
  response.flexible = version >= 3;
  response.int16(error).array(all, ({ key, min, max }) => {
    response.int16(key).int16(min).int16(max).taggedFields();
  });
  if (version >= 1) response.int32(0); // throttle time
  response.taggedFields();
};
