import { bash, type Starter } from './starter.ts'
import { verbRules } from './verbs.ts'

export const cloudDestroy: Starter = {
  id: 'cloud-destroy',
  about: 'command-line tools of clouds delete nothing',
  limits:
    'A script or SDK that calls the cloud by itself, SQL (`psql -c "drop …"`), tools that are not named, and deletions that follow from an update: give agents credentials that cannot delete.',
  words: ['cloud', 'aws', 'gcloud', 'azure', 'terraform', 'kubectl', 'destroy', 'delete'],
  permissions: {
    deny: [
      ...verbRules({
        'terraform tofu terragrunt': ['destroy', 'apply', '-destroy', 'state rm', 'workspace delete', 'force-unlock'],
        pulumi: ['destroy', 'down', 'up', 'stack rm', 'state delete', 'cancel'],
        'kubectl oc k': ['delete', 'drain', 'replace', 'scale', 'exec', 'apply --prune', 'apply * --prune'],
        'helm helmfile': ['uninstall', 'delete', 'del', 'un', 'destroy', 'rollback'],
        'eksctl kops kind minikube velero': ['delete'],
        aws: [
          ...[
            'delete',
            'terminate',
            'remove',
            'batch-delete',
            'deregister',
            'release',
            'schedule-key-deletion',
            'purge',
          ],
          ...['s3 rm', 's3 rb', '--delete', 'disable', 'revoke', 'cancel', 'stop', 'nuke'],
        ],
        'gcloud gsutil bq': ['delete', 'rm', 'rb', 'remove', 'purge', '-d', 'destroy'],
        'az doctl ibmcloud linode-cli oci hcloud scw': ['delete', 'purge', 'remove', 'terminate', 'destroy', 'rm'],
        'fly flyctl heroku railway render': ['destroy', 'delete', 'apps:destroy', 'pg:reset', 'down'],
        'vercel netlify wrangler firebase supabase': [
          'rm',
          'remove',
          'delete',
          'sites:delete',
          'hosting:disable',
          'db reset',
        ],
        'cdk cdktf sam serverless sls copilot': ['destroy', 'delete', 'remove'],
        'firebase nomad consul etcdctl argocd flux istioctl': [
          ...['projects:delete', 'firestore:delete', 'delete', 'del', 'job stop', 'system gc', 'uninstall'],
        ],
        vault: ['delete', 'destroy', 'secrets disable', 'auth disable', 'lease revoke', 'operator'],
        'vultr-cli openstack rancher k3d lxc lxd multipass vagrant virsh govc eb': [
          ...['delete', 'destroy', 'undefine', 'purge', 'vm.destroy', 'object.destroy', 'terminate', 'rm'],
        ],
        'npx pnpx bunx': ['cdk destroy', 'serverless remove', 'sls remove', 'wrangler delete', 'vercel rm', 'destroy'],
      }),
      ...['Bash(aws-nuke*)', 'Bash(cloud-nuke*)', 'Bash(dropdb *)', 'Bash(mysqladmin *drop*)', 'Bash(kubectl-delete*)'],
      ...['Bash(redis-cli *flush*)', 'Bash(redis-cli *FLUSH*)', 'Bash(aws * --desired-count 0*)'],
    ],
    ask: [
      ...['Bash(ansible *)', 'Bash(ansible-playbook *)', 'Bash(aws lambda invoke *)', 'Bash(kubectl patch *)'],
      ...['Bash(kubectl cordon *)', 'Bash(k9s*)', 'Bash(docker system prune*)', 'Bash(docker volume *)'],
    ],
  },
  refuses: [
    ...['terraform destroy -auto-approve', 'terraform -chdir=x destroy', 'terraform apply -destroy', 'pulumi down'],
    ...['kubectl delete pod web', 'kubectl -n x delete pod web', 'kubectl --context prod delete ns x', 'helm un web'],
    ...['aws ec2 terminate-instances --instance-ids i-1', 'aws --region eu-west-1 s3 rb s3://x', 'npx cdk destroy'],
    ...['aws s3 sync . s3://x --delete', 'gsutil -m rm gs://x', 'az group delete -n x', 'fly apps destroy x'],
    ...['sh -c "kubectl delete pod web"', 'doctl compute droplet delete x', 'tofu -chdir=a apply'],
  ].map(bash),
  allows: [bash('echo terraform plan'), bash('terraform plan || true'), bash('kubectl get pods || true')],
}
