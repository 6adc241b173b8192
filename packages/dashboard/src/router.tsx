import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { orNoAnswer } from './api.ts';
import { readSearch, writeSearch } from './lib/search-params.ts';
import { Gate } from './shell/gate.tsx';
import { CrashedPage, CrashedPart, MissingPage } from './shell/other-pages.tsx';
import { Loading } from './ui/states.tsx';

/** A page that is loaded when it is opened. */
const lazyPage = <Name extends string>(load: () => Promise<Record<Name, () => ReactNode>>, name: Name) =>
  lazyRouteComponent(orNoAnswer(load), name);

const root = createRootRoute({ component: Outlet, notFoundComponent: MissingPage, errorComponent: CrashedPage });

const users = createRoute({
  getParentRoute: () => root,
  id: 'users',
  component: Gate,
  errorComponent: CrashedPage,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyPage(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});
const welcome = createRoute({
  getParentRoute: () => root,
  path: '/welcome',
  component: lazyPage(() => import('./pages/sign-in/welcome-page.tsx'), 'WelcomePage'),
});

const page = (path: string, component: RouteComponent) => createRoute({ getParentRoute: () => users, path, component });

const pages = [
  page(
    '/',
    lazyPage(() => import('./pages/home/home-page.tsx'), 'HomePage'),
  ),
  page(
    '/orders',
    lazyPage(() => import('./pages/orders/orders-page.tsx'), 'OrdersPage'),
  ),
  page(
    '/orders/new',
    lazyPage(() => import('./pages/orders/create-order-page.tsx'), 'CreateOrderPage'),
  ),
  page(
    '/orders/$id',
    lazyPage(() => import('./pages/order/order-page.tsx'), 'OrderPage'),
  ),
  page(
    '/payments',
    lazyPage(() => import('./pages/payments/payments-page.tsx'), 'PaymentsPage'),
  ),
  page(
    '/payments/$id',
    lazyPage(() => import('./pages/payments/payment-page.tsx'), 'PaymentPage'),
  ),
  page(
    '/refunds',
    lazyPage(() => import('./pages/refunds/refunds-page.tsx'), 'RefundsPage'),
  ),
  page(
    '/reports',
    lazyPage(() => import('./pages/reports/reports-page.tsx'), 'ReportsPage'),
  ),
  page(
    '/webhooks',
    lazyPage(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  ),
  page(
    '/webhooks/$id',
    lazyPage(() => import('./pages/webhooks/webhook-page.tsx'), 'WebhookDetailPage'),
  ),
  page(
    '/deliveries',
    lazyPage(() => import('./pages/webhooks/deliveries-page.tsx'), 'DeliveriesPage'),
  ),
  page(
    '/deliveries/$webhook/$id',
    lazyPage(() => import('./pages/webhooks/delivery-page.tsx'), 'DeliveryPage'),
  ),
  page(
    '/api-keys',
    lazyPage(() => import('./pages/keys/keys-page.tsx'), 'KeysPage'),
  ),
  page(
    '/requests',
    lazyPage(() => import('./pages/requests/requests-page.tsx'), 'RequestsPage'),
  ),
  page(
    '/requests/$id',
    lazyPage(() => import('./pages/requests/request-page.tsx'), 'RequestPage'),
  ),
];

const settings = createRoute({
  getParentRoute: () => users,
  path: '/settings',
  component: lazyPage(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
});

const setting = (path: string, component: RouteComponent) =>
  createRoute({ getParentRoute: () => settings, path, component });

const settingsPages = [
  setting(
    '/profile',
    lazyPage(() => import('./pages/settings/profile-page.tsx'), 'ProfilePage'),
  ),
  setting(
    '/deposits',
    lazyPage(() => import('./pages/settings/deposits-page.tsx'), 'DepositsPage'),
  ),
  setting(
    '/payment-page',
    lazyPage(() => import('./pages/settings/payment-page-page.tsx'), 'PaymentPageSettingsPage'),
  ),
  setting(
    '/users',
    lazyPage(() => import('./pages/settings/users-page.tsx'), 'UsersPage'),
  ),
  setting(
    '/audit-log',
    lazyPage(() => import('./pages/settings/audit-log-page.tsx'), 'AuditLogPage'),
  ),
  setting(
    '/account',
    lazyPage(() => import('./pages/settings/account-page.tsx'), 'AccountPage'),
  ),
  setting(
    '/sessions',
    lazyPage(() => import('./pages/settings/sessions-page.tsx'), 'SessionsPage'),
  ),
];

export const createDashboardRouter = () =>
  createRouter({
    routeTree: root.addChildren([signIn, welcome, users.addChildren([...pages, settings.addChildren(settingsPages)])]),
    basepath: '/dashboard',
    // An address is read by people and by the overview: plain parameters, a name once per value.
    parseSearch: readSearch as (query: string) => Record<string, unknown>,
    stringifySearch: writeSearch,
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    defaultErrorComponent: CrashedPart,
    scrollRestoration: true,
    trailingSlash: 'never',
  });
