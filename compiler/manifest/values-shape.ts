import { cli } from '../schema/row.ts'
import { either, integer, keyValues, object, type Shape, text } from '../schema/shape.ts'

/** Returns the shape of text that is not empty. */
export const filled = (): Shape => text({ pattern: /\S/, like: 'text that is not empty' })

/** Returns the shape of a name that Kubernetes accepts for a namespace, a Service or a container. */
export const kubernetesName = (): Shape =>
  text({
    pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    like: 'lower-case letters and digits with `-` between them, at most 63',
  })

const LABEL = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?'
const NAME = `(?=[^/]{1,253}$)${LABEL}(\\.${LABEL})*`

/** Returns the shape of a DNS name: labels joined by dots. */
export const dnsName = (): Shape =>
  text({
    pattern: new RegExp(`^${NAME}$`),
    like: 'lower-case labels joined by dots, such as `dev.example.com`',
  })

/** Returns the shape of a Gateway with its namespace, `NAMESPACE/NAME`. */
export const gatewayName = (): Shape => text({ pattern: new RegExp(`^${LABEL}/${NAME}$`), like: '`NAMESPACE/NAME`' })

/** Returns the shape of the name of a shell variable. */
export const variableName = (): Shape =>
  text({ pattern: /^[A-Za-z_][A-Za-z0-9_]*$/, like: 'the name of a variable, such as `API_KEY`' })

/** Returns the shape of a key that Kubernetes accepts in a Secret. */
export const secretKey = (): Shape =>
  text({
    pattern: /^(?!\.\.?$|\.\.)[-._a-zA-Z0-9]{1,253}$/,
    like: 'letters, digits, `-`, `_` and `.`, at most 253',
  })

/** Returns the shape of the public key of an age recipient (https://age-encryption.org/v1), encoded as bech32. */
export const ageRecipient = (): Shape =>
  text({
    pattern: /^age1(pq1)?[02-9ac-hj-np-z]{58,}$/,
    like: 'the public key of an age key, `age1…`, as `age-keygen -y` prints it',
  })

const PORT = { minimum: 1, maximum: 65535 }

/**
 * Returns the shape of a forwarded port: `LOCAL:REMOTE`, `LOCAL:SERVICE:REMOTE`, or an object with a key for each part.
 * The arguments are the descriptions of the keys for the remote port and the service.
 */
export const forward = (remotePort: string, service: string): Shape =>
  either(
    filled(),
    object(
      {
        localPort: cli(integer(PORT), 'port on this machine'),
        remotePort: cli(integer(PORT), remotePort),
        name: cli(filled(), service),
        labels: cli(keyValues(), 'labels of the service, instead of its name'),
      },
      { required: ['localPort', 'remotePort'] },
    ),
  )
