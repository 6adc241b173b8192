import type { Api } from '../broker.ts';
import { type ErrorCode, errorCode } from '../errors.ts';
import type { ResponseWriter } from './response-writer.ts';

type Range = Pick<Api, 'key' | 'min' | 'max'>;

/** Which versions of which APIs this broker speaks. */
export const apiVersions = (all: () => readonly Range[]): Api => ({
  key: 18,
  name: 'ApiVersions',
  min: 0,
  max: 3,
  flexibleFrom: 3,
  handle: ({ reader, version }) => {
    if (version >= 3) {
      reader.string(); // client software
      reader.string(); // its version
      reader.skipTaggedFields();
    }
    return writeVersions(version, errorCode.none, all());
  },
});

/** To a version that is not spoken, the answer is in version 0: the client learns from it what is (KIP-511). */
export const unsupportedApiVersions = (all: readonly Range[]) => writeVersions(0, errorCode.unsupportedVersion, all);

const writeVersions = (version: number, error: ErrorCode, all: readonly Range[]) => (response: ResponseWriter) => {
  response.flexible = version >= 3;
  response.int16(error).array(all, ({ key, min, max }) => {
    response.int16(key).int16(min).int16(max).taggedFields();
  });
  if (version >= 1) response.int32(0); // throttle time
  response.taggedFields();
};
