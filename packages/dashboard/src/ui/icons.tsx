import type { ReactNode } from 'react';

const Icon = ({ children }: { readonly children: ReactNode }) => (
  <svg
    width="16"
    height="16"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth="2"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {children}
  </svg>
);

export const CopyIcon = () => (
  <Icon>
    <rect x="9" y="9" width="11" height="11" rx="2" />
    <path d="M5 15V5a2 2 0 0 1 2-2h8" />
  </Icon>
);

export const DoneIcon = () => (
  <Icon>
    <path d="M5 13l4 4L19 7" />
  </Icon>
);

export const HomeIcon = () => (
  <Icon>
    <path d="M4 11l8-7 8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z" />
  </Icon>
);

export const OrdersIcon = () => (
  <Icon>
    <path d="M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6" />
  </Icon>
);

export const PaymentsIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 7v10M15 9.5c-.6-1-1.6-1.4-3-1.4-1.700 0-3 .8-3 2s1.200 1.700 3 1.900 3 .8 3 2-1.300 2-3 2c-1.400 0-2.500-.5-3-1.500" />
  </Icon>
);

export const RefundsIcon = () => (
  <Icon>
    <path d="M9 5L4 10l5 5M4 10h10a6 6 0 0 1 0 12h-2" />
  </Icon>
);

export const ReportsIcon = () => (
  <Icon>
    <path d="M4 20h16M7 16v-5M12 16V5M17 16V9" />
  </Icon>
);

export const WebhooksIcon = () => (
  <Icon>
    <path d="M4 12h4l3-8 3 16 2-8h4" />
  </Icon>
);

export const DeliveriesIcon = () => (
  <Icon>
    <path d="M4 12l16-8-6 16-3-7z" />
  </Icon>
);

export const KeysIcon = () => (
  <Icon>
    <circle cx="8" cy="15" r="4" />
    <path d="M11 12l8-8M16 7l3 3" />
  </Icon>
);

export const RequestsIcon = () => (
  <Icon>
    <path d="M4 6h16M4 12h16M4 18h10" />
  </Icon>
);

export const SettingsIcon = () => (
  <Icon>
    <path d="M4 7h10M18 7h2M4 17h2M10 17h10" />
    <circle cx="16" cy="7" r="2" />
    <circle cx="8" cy="17" r="2" />
  </Icon>
);

export const DocsIcon = () => (
  <Icon>
    <path d="M5 4h10l4 4v12H5zM14 4v5h5M8 13h8M8 16h5" />
  </Icon>
);
