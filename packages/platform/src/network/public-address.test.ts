import { hideInternalAddresses, isPublicAddress } from './addresses.ts';

test.each([
  ['93.184.216.34', 'IPv4'],
  ['2606:2800:220:1::1', 'IPv6'],
  ['::ffff:8.8.8.8', 'public IPv4, mapped'],
  ['64:ff9b::808:808', 'public IPv4 in NAT64'],
  ['2002:808:808::1', 'public IPv4 in 6to4'],
])('%s is public: %s', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  ['9.255.255.255', 'before 10.0.0.0/8'],
  ['11.0.0.0', 'after 10.0.0.0/8'],
  ['172.15.255.255', 'before 172.16.0.0/12'],
  ['172.32.0.0', 'after 172.16.0.0/12'],
  ['192.167.255.255', 'before 192.168.0.0/16'],
  ['192.169.0.0', 'after 192.168.0.0/16'],
  ['100.63.255.255', 'before 100.64.0.0/10'],
  ['100.128.0.0', 'after 100.64.0.0/10'],
  ['126.255.255.255', 'before 127.0.0.0/8'],
  ['128.0.0.0', 'after 127.0.0.0/8'],
  ['169.253.255.255', 'before 169.254.0.0/16'],
  ['169.255.0.0', 'after 169.254.0.0/16'],
  ['223.255.255.255', 'before 224.0.0.0/4'],
  ['2000::', 'first global unicast address'],
  ['3ffe:ffff::', 'in the upper half of global unicast'],
  ['168.63.129.15', "next to Azure's platform endpoint"],
])('%s at the border of a range is public: %s', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

describe('special IPv4 ranges are not public', () => {
  test.each([
    ['0.0.0.0', 'unspecified'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.255', 'end of loopback'],
    ['10.0.0.0', 'start of private 10/8'],
    ['10.1.2.3', 'private 10/8'],
    ['10.255.255.255', 'end of private 10/8'],
    ['172.16.0.0', 'start of private 172.16/12'],
    ['172.16.0.1', 'private 172.16/12'],
    ['172.31.255.255', 'end of private 172.16/12'],
    ['192.168.0.0', 'start of private 192.168/16'],
    ['192.168.1.1', 'private 192.168/16'],
    ['192.168.255.255', 'end of private 192.168/16'],
    ['169.254.0.0', 'start of link-local'],
    ['169.254.255.255', 'end of link-local'],
    ['100.64.0.1', 'shared by carriers (NAT)'],
    ['100.127.255.255', 'end of the range shared by carriers'],
    ['192.0.2.1', 'documentation'],
    ['198.18.0.1', 'benchmarking'],
    ['224.0.0.1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
  ])('%s: %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('special IPv6 ranges are not public', () => {
  test.each([
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'last address before global unicast'],
    ['4000::', 'first address after global unicast'],
    ['4000::1', 'outside global unicast'],
    ['fc00::1', 'unique local'],
    ['fe80::1', 'link-local'],
    ['fec0::1', 'site-local (deprecated)'],
    ['ff02::1', 'multicast'],
    ['2001:db8::1', 'documentation'],
  ])('%s: %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('IPv6 addresses that embed a private IPv4 address are not public', () => {
  test.each([
    ['::ffff:127.0.0.1', 'mapped loopback'],
    ['::ffff:a00:1', 'mapped 10.0.0.1'],
    ['::127.0.0.1', 'compatible (deprecated) loopback'],
    ['::7f00:1', 'compatible (deprecated) loopback, in hexadecimal'],
    ['64:ff9b::7f00:1', 'NAT64 loopback'],
    ['64:ff9b:1::a00:1', 'local-use NAT64 10.0.0.1'],
    ['2002:7f00:1::', '6to4 loopback'],
    ['2001:0:7f00:1::1', 'Teredo'],
  ])('%s: %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('metadata services of clouds are not public', () => {
  test.each([
    ['169.254.169.254', 'AWS, Google Cloud, Azure'],
    ['fd00:ec2::254', 'AWS over IPv6'],
    ['100.100.100.200', 'Alibaba Cloud'],
    ['192.0.0.192', 'Oracle Cloud'],
    ['168.63.129.16', 'Azure platform endpoint'],
    ['::ffff:168.63.129.16', 'Azure platform endpoint, mapped'],
    ['64:ff9b::a9fe:a9fe', '169.254.169.254 in NAT64'],
    ['2002:a9fe:a9fe::', '169.254.169.254 in 6to4'],
  ])('%s: %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('text that is not an IP address in its standard form is not public', () => {
  test.each([
    ['0177.0.0.1', 'octal'],
    ['0x7f.0.0.1', 'hexadecimal'],
    ['2130706433', 'one decimal number'],
    ['127.1', 'two parts'],
    ['localhost', 'host name'],
    ['', 'empty'],
  ])('"%s": %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('texts for merchants hide internal addresses', () => {
  test.each([
    [
      'shop.example resolves to 10.1.2.3, which is not public',
      'shop.example resolves to (internal address), which is not public',
    ],
    ['connect ECONNREFUSED 192.168.0.7:8443', 'connect ECONNREFUSED (internal address)'],
    [
      'connect ECONNREFUSED ::1:8443; connect ETIMEDOUT fd00::5:443',
      'connect ECONNREFUSED (internal address); connect ETIMEDOUT (internal address)',
    ],
    ['connect EHOSTUNREACH [fe80::1%eth0]:443', 'connect EHOSTUNREACH [(internal address)]:443'],
    ['::ffff:10.0.0.1 refused', '(internal address) refused'],
  ])('%s', (text, shown) => {
    expect(hideInternalAddresses(text)).toBe(shown);
  });

  test.each([
    'connect ECONNREFUSED 93.184.216.34:443',
    'connect ETIMEDOUT 2606:4700::1111:443',
    'UND_ERR_SOCKET: other side closed at 12:30:45',
    'version 1.2.3.4567 is not supported',
    'std::string is not a function',
    '',
  ])('and leave others: %s', (text) => {
    expect(hideInternalAddresses(text)).toBe(text);
  });

  test('and leave the address that the merchant named', () => {
    expect(hideInternalAddresses('connect ECONNREFUSED 127.0.0.1:3000', '127.0.0.1')).toBe(
      'connect ECONNREFUSED 127.0.0.1:3000',
    );
  });
});
