import type { Port } from '../../compose/project.ts'
import { isAnnotationKey } from '../../values/annotation.ts'

/** The protocol of a program on a port, as far as the file or the port number indicates it. */
export interface PortProtocol {
  /** Kind of protocol. If nothing is known, the kind is `http`, because the port then gets a public address. */
  readonly kind: 'http' | 'tls' | 'other'
  /** Name of the protocol for messages; empty if nothing is known. */
  readonly name: string
  /** True if the file names the protocol with `app_protocol`. */
  readonly isWritten: boolean
}

/** Returns the protocol of the program on a port. `app_protocol` overrides the usual protocol of the port number. */
export function protocolOf({ target, appProtocol }: Pick<Port, 'target' | 'appProtocol'>): PortProtocol {
  // An invalid name is reported elsewhere and ignored here.
  if (appProtocol !== undefined && isAnnotationKey(appProtocol)) {
    const name = appProtocol.replace(/^.*\//, '').toLowerCase()
    const kind = OVER_TLS.test(name) ? 'tls' : OVER_TCP.test(name) ? 'http' : 'other'
    return { kind, name: appProtocol, isWritten: true }
  }
  if (TLS_PORTS.has(target)) return { kind: 'tls', name: 'HTTPS', isWritten: false }
  const name = OTHERS.get(target)
  return name === undefined ? { kind: 'http', name: '', isWritten: false } : { kind: 'other', name, isWritten: false }
}

const OVER_TLS = /^(?:https|grpcs|wss)/
const OVER_TCP = /^(?:http|h2|grpc|ws|websocket)/

const TLS_PORTS: ReadonlySet<number> = new Set([443, 8443, 9443])

/**
 * Ports that usually speak a protocol other than HTTP, from IANA's registry and popular images. Ports of databases and
 * debuggers are in `route-ports`.
 */
const OTHERS: ReadonlyMap<number, string> = new Map([
  [20, 'FTP'],
  [21, 'FTP'],
  [22, 'SSH'],
  [23, 'Telnet'],
  [25, 'SMTP'],
  [53, 'DNS'],
  [110, 'POP3'],
  [139, 'SMB'],
  [143, 'IMAP'],
  [389, 'LDAP'],
  [445, 'SMB'],
  [465, 'SMTP'],
  [514, 'syslog'],
  [554, 'RTSP'],
  [587, 'SMTP'],
  [636, 'LDAP'],
  [873, 'rsync'],
  [993, 'IMAP'],
  [995, 'POP3'],
  [1883, 'MQTT'],
  [1935, 'RTMP'],
  [2049, 'NFS'],
  [2181, 'ZooKeeper'],
  [3389, 'RDP'],
  [4190, 'ManageSieve'],
  [4222, 'NATS'],
  [5044, 'Beats'],
  [5060, 'SIP'],
  [5222, 'XMPP'],
  [5269, 'XMPP'],
  [5671, 'AMQP'],
  [5672, 'AMQP'],
  [5900, 'VNC'],
  [6667, 'IRC'],
  [6697, 'IRC'],
  [8883, 'MQTT'],
  [9092, 'Kafka'],
  [9101, 'Bacula'],
  [11211, 'memcached'],
  [24224, 'Fluentd'],
  [25565, 'Minecraft'],
  [61613, 'STOMP'],
  [61616, 'OpenWire'],
])
