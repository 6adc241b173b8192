import { type ConnectionString, parseConnectionString } from './connect.ts';

const plain: ConnectionString = { hosts: [{ host: 'store', port: 2113 }], user: null, tls: true, tlsCAFile: null };

test.each<[string, Partial<ConnectionString>]>([
  ['esdb://store', {}],
  ['esdb://store:2114', { hosts: [{ host: 'store', port: 2114 }] }],
  [
    'esdb+discover://a:1,b',
    {
      hosts: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2113 },
      ],
    },
  ],
  ['esdb://store/?tls=false', { tls: false }],
  ['esdb://store?tls=true', {}],
  ['esdb://store?TLS=false', { tls: false }],
  ['esdb://pay%40shop:se%3Acret@store', { user: 'pay@shop' }],
  ['esdb://store?tlsCAFile=%2Fetc%2Fca%20file.pem', { tlsCAFile: '/etc/ca file.pem' }],
  ['esdb://pay:secret@', { user: 'pay', hosts: [] }],
  ['nonsense', { hosts: [] }],
])('the parts of %s', (url, changes) => expect(parseConnectionString(url)).toEqual({ ...plain, ...changes }));
