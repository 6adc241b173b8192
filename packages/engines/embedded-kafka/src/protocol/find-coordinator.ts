import { NODE_ID } from '../broker.ts';
import { errorCode } from '../errors.ts';
import type { Api } from './api.ts';

/** Finds the coordinator of a group or of a transactional id: always the only node. */
export const findCoordinator: Api = {
  key: 10,
  name: 'FindCoordinator',
  min: 0,
  max: 2,
  handle:
    ({ version }, { address }) =>
    (response) => {
      if (version >= 1) response.int32(0); // throttle time
      response.int16(errorCode.none);
      if (version >= 1) response.string(null); // error message
      response.int32(NODE_ID).string(address.host).int32(address.port);
    },
};
