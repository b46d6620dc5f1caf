"""The only place that talks to hosts: Ansible, SSH banners, power interfaces."""
