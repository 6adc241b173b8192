import { NODE_ID } from '../broker.ts';
import { errorCode } from '../errors.ts';
import type { Api } from './api.ts';

/** The client did not ask for its authorized operations. */
const NO_AUTHORIZED_OPERATIONS = -2147483648;

export const describeCluster: Api = {
  key: 60,
  name: 'DescribeCluster',
  min: 0,
  max: 0,
  flexibleFrom: 0,
  handle:
    (_, { address, clusterId }) =>
    (response) => {
      response.int32(0); // throttle time
      response.int16(errorCode.none).string(null).string(clusterId).int32(NODE_ID);
      response.array([NODE_ID], (id) => {
        response.int32(id).string(address.host).int32(address.port).string(null).taggedFields();
      });
      response.int32(NO_AUTHORIZED_OPERATIONS).taggedFields();
    },
};
