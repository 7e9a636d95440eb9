// SPDX-License-Identifier: GPL-2.0
/*
 * Two RDMA devices without hardware, for railwatch's tests: stuck0 and healthy0.
 *
 * Both answer the standard port counters, and every answer counts one further. While the parameter
 * "armed" is set, a read of stuck0's counters sleeps uninterruptibly, as a driver does whose
 * firmware does not come back: no signal ends it, SIGKILL included.
 *
 * A kernel module has to carry the kernel's licence; it is no part of the railwatch binary.
 */
#include <linux/module.h>
#include <linux/wait.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_verbs.h>

static DECLARE_WAIT_QUEUE_HEAD(released);
static bool armed;

static int set_armed(const char *text, const struct kernel_param *param)
{
	int err = param_set_bool(text, param);

	wake_up_all(&released);
	return err;
}

static const struct kernel_param_ops armed_ops = {
	.set = set_armed,
	.get = param_get_bool,
};
module_param_cb(armed, &armed_ops, &armed, 0644);
MODULE_PARM_DESC(armed, "reads of stuck0's counters do not return");

struct fake {
	struct ib_device ibdev;
	bool may_stick;
	atomic_t asked;
};

static int fake_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			     struct ib_udata *udata)
{
	memset(attr, 0, sizeof(*attr));
	return 0;
}

static int fake_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	return 0;
}

static int fake_immutable(struct ib_device *ibdev, u32 port, struct ib_port_immutable *immutable)
{
	return 0;
}

static enum rdma_link_layer fake_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int fake_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
			    const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
			    size_t *out_size, u16 *out_pkey_index)
{
	struct fake *fake = container_of(ibdev, struct fake, ibdev);
	struct ib_pma_portcounters *counters = (void *)(out->data + 40);

	if (fake->may_stick)
		wait_event(released, !READ_ONCE(armed));
	if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS) {
		u32 now = atomic_inc_return(&fake->asked);

		counters->port_xmit_data = cpu_to_be32(now);
		counters->port_rcv_data = cpu_to_be32(now);
		counters->port_xmit_packets = cpu_to_be32(now);
		counters->port_rcv_packets = cpu_to_be32(now);
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

static const struct ib_device_ops fake_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.query_device = fake_query_device,
	.query_port = fake_query_port,
	.get_port_immutable = fake_immutable,
	.get_link_layer = fake_link_layer,
	.process_mad = fake_process_mad,
};

static struct fake *devices[2];

static struct fake *add(const char *name, bool may_stick)
{
	struct fake *fake = ib_alloc_device(fake, ibdev);
	int err;

	if (!fake)
		return ERR_PTR(-ENOMEM);
	fake->may_stick = may_stick;
	fake->ibdev.phys_port_cnt = 1;
	fake->ibdev.node_type = RDMA_NODE_IB_CA;
	fake->ibdev.node_guid = cpu_to_be64(0x0200000000000000ULL + may_stick);
	ib_set_device_ops(&fake->ibdev, &fake_ops);
	err = ib_register_device(&fake->ibdev, name, NULL);
	if (err) {
		ib_dealloc_device(&fake->ibdev);
		return ERR_PTR(err);
	}
	return fake;
}

static void drop(struct fake *fake)
{
	ib_unregister_device(&fake->ibdev);
	ib_dealloc_device(&fake->ibdev);
}

static int __init stuck_init(void)
{
	devices[0] = add("stuck%d", true);
	if (IS_ERR(devices[0]))
		return PTR_ERR(devices[0]);
	devices[1] = add("healthy%d", false);
	if (IS_ERR(devices[1])) {
		drop(devices[0]);
		return PTR_ERR(devices[1]);
	}
	return 0;
}

static void __exit stuck_exit(void)
{
	WRITE_ONCE(armed, false);
	wake_up_all(&released);
	drop(devices[1]);
	drop(devices[0]);
}

module_init(stuck_init);
module_exit(stuck_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("RDMA devices whose counters may hang, for railwatch's tests");
