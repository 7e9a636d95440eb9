//! Rows of the `rdma_hw` family: transport counters that RDMA drivers show in `hw_counters`, each
//! under names of its own.
//!
//! "Requester" is the side that posted the work (sender of a write, reader of a read), "responder"
//! its peer. A file of mlx5 or mlx4 may be in the port's directory or in the device's: mlx5 moves it
//! there in switchdev mode, mlx4 has both.

use super::row::{AtTop, Cost, Driver, Entry, File, Form, Kind, Lane, Row, Scope, Source, Unit};

/// The rows.
pub(super) const ROWS: &[Row] = &[
    // Traffic.
    Row {
        metric: "railwatch_rdma_transmit_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes sent by RDMA, as the driver counts them by itself",
        concept: Some("rdma_transmit_bytes"),
        entries: &[
            bnxt("tx_roce_only_bytes"),
            bnxt_dma("tx_bytes"),
            efa("tx_bytes"),
            rxe("sent_bytes"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_receive_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes received by RDMA, as the driver counts them by itself",
        concept: Some("rdma_receive_bytes"),
        entries: &[
            bnxt("rx_roce_good_bytes"),
            bnxt_dma("rx_bytes"),
            efa("rx_bytes"),
            rxe("rcvd_bytes"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_transmit_packets_total",
        unit: Unit::Packets,
        help: "Packets sent by RDMA, as the driver counts them by itself",
        concept: Some("rdma_transmit_packets"),
        entries: &[
            bnxt("tx_roce_only_pkts"),
            bnxt_dma("tx_pkts"),
            efa("tx_pkts"),
            rxe("sent_pkts"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_receive_packets_total",
        unit: Unit::Packets,
        help: "Packets received by RDMA, as the driver counts them by itself",
        concept: Some("rdma_receive_packets"),
        entries: &[
            bnxt("rx_roce_only_pkts"),
            bnxt("rx_roce_good_pkts"),
            bnxt_dma("rx_pkts"),
            efa("rx_pkts"),
            rxe("rcvd_pkts"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv4_transmit_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes sent by RDMA over IPv4",
        concept: Some("rdma_transmit_bytes"),
        entries: &[irdma("ip4OutOctets")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv6_transmit_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes sent by RDMA over IPv6",
        concept: Some("rdma_transmit_bytes"),
        entries: &[irdma("ip6OutOctets")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv4_receive_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes received by RDMA over IPv4",
        concept: Some("rdma_receive_bytes"),
        entries: &[irdma("ip4InOctets")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv6_receive_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes received by RDMA over IPv6",
        concept: Some("rdma_receive_bytes"),
        entries: &[irdma("ip6InOctets")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv4_transmit_packets_total",
        unit: Unit::Packets,
        help: "Packets sent by RDMA over IPv4",
        concept: Some("rdma_transmit_packets"),
        entries: &[irdma("ip4OutPkts")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv6_transmit_packets_total",
        unit: Unit::Packets,
        help: "Packets sent by RDMA over IPv6",
        concept: Some("rdma_transmit_packets"),
        entries: &[irdma("ip6OutPkts")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv4_receive_packets_total",
        unit: Unit::Packets,
        help: "Packets received by RDMA over IPv4",
        concept: Some("rdma_receive_packets"),
        entries: &[irdma("ip4InPkts")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv6_receive_packets_total",
        unit: Unit::Packets,
        help: "Packets received by RDMA over IPv6",
        concept: Some("rdma_receive_packets"),
        entries: &[irdma("ip6InPkts")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_send_transmit_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes sent by send operations",
        entries: &[efa("send_bytes")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_send_receive_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes received by send operations",
        entries: &[efa("recv_bytes")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_read_receive_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes that read operations of this side fetched",
        entries: &[efa("rdma_read_bytes")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_read_transmit_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes that read operations of peers fetched here",
        entries: &[efa("rdma_read_resp_bytes")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_write_transmit_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes that write operations of this side sent",
        entries: &[efa("rdma_write_bytes")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_write_receive_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes that write operations of peers put here",
        entries: &[efa("rdma_write_recv_bytes")],
        ..COUNTER
    },
    // Operations.
    Row {
        metric: "railwatch_rdma_receive_writes_total",
        help: "Write operations received, as the device counts them",
        entries: &[
            mlx5("rx_write_requests"),
            mlx5_device("rx_write_requests"),
            bnxt("rx_write_requests"),
            bnxt("rx_write_req"),
            irdma("InRdmaWrites"),
            irdma("iwInRdmaWrites"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_receive_reads_total",
        help: "Read operations received, as the device counts them",
        entries: &[
            mlx5("rx_read_requests"),
            mlx5_device("rx_read_requests"),
            bnxt("rx_read_requests"),
            bnxt("rx_read_req"),
            irdma("InRdmaReads"),
            irdma("iwInRdmaReads"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_receive_atomics_total",
        help: "Atomic operations received, as the device counts them",
        entries: &[
            mlx5("rx_atomic_requests"),
            mlx5_device("rx_atomic_requests"),
            bnxt("rx_atomic_requests"),
            bnxt("rx_atomic_req"),
            irdma("Rx atomics"),
            irdma("Rx ATS"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_receive_sends_total",
        help: "Send operations received, as the device counts them",
        entries: &[
            bnxt("rx_send_req"),
            irdma("InRdmaSends"),
            irdma("iwInRdmaSends"),
            efa("recv_wrs"),
            rxe("rdma_recvs"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_receive_read_responses_total",
        help: "Responses to read operations of this side received",
        entries: &[bnxt("rx_read_resp")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_receive_dct_connects_total",
        help: "Connect requests received for dynamically connected transport",
        entries: &[mlx5("rx_dct_connect"), mlx5_device("rx_dct_connect")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_transmit_writes_total",
        help: "Write operations sent, as the device counts them",
        entries: &[
            bnxt("tx_write_req"),
            irdma("OutRdmaWrites"),
            irdma("iwOutRdmaWrites"),
            efa("rdma_write_wrs"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_transmit_reads_total",
        help: "Read operations sent, as the device counts them",
        entries: &[
            bnxt("tx_read_req"),
            irdma("OutRdmaReads"),
            irdma("iwOutRdmaReads"),
            efa("rdma_read_wrs"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_transmit_atomics_total",
        help: "Atomic operations sent, as the device counts them",
        entries: &[bnxt("tx_atomic_req"), irdma("Tx atomics"), irdma("Tx ATS")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_transmit_sends_total",
        help: "Send operations sent, as the device counts them",
        entries: &[
            bnxt("tx_send_req"),
            irdma("OutRdmaSends"),
            irdma("iwOutRdmaSends"),
            efa("send_wrs"),
            rxe("rdma_sends"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_transmit_read_responses_total",
        help: "Responses to read operations of peers sent",
        entries: &[bnxt("tx_read_resp")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_binds_total",
        help: "Memory windows bound",
        entries: &[irdma("RdmaBnd"), irdma("iwRdmaBnd")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_invalidates_total",
        help: "Memory keys invalidated",
        entries: &[irdma("RdmaInv"), irdma("iwRdmaInv")],
        ..COUNTER
    },
    // Loss and retransmission.
    Row {
        metric: "railwatch_rdma_out_of_sequence_total",
        unit: Unit::Packets,
        help: "Packets that arrived with a later sequence number than expected: loss or reordering on the way here",
        concept: Some("out_of_sequence"),
        entries: &[
            mlx5("out_of_sequence"),
            mlx5_device("out_of_sequence"),
            mlx4("rq_num_oos"),
            mlx4_device("rq_num_oos"),
            bnxt("out_of_sequence"),
            bnxt("oos_drop_count"),
            irdma("Rcvd Out of order packets"),
            rxe("out_of_seq_request"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_sequence_nak_sent_total",
        help: "Times this side told a peer that packets are missing: loss or reordering on the way here",
        concept: Some("sequence_nak_sent"),
        entries: &[hfi1("RcSeqNak")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_sequence_nak_received_total",
        help: "Times a peer told that packets of this side are missing: loss or reordering on the way out",
        concept: Some("sequence_nak"),
        entries: &[
            mlx5("packet_seq_err"),
            mlx5_device("packet_seq_err"),
            mlx4("sq_num_oos"),
            mlx4_device("sq_num_oos"),
            bnxt("packet_seq_err"),
            bnxt("seq_err_naks_rcvd"),
            irdma("Nak Sequence Error"),
            hfi1("SeqNak"),
            rxe("rcvd_seq_err"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_implied_nak_total",
        help: "Times an answer skipped one that was due: loss of acknowledgements or read responses",
        concept: Some("implied_nak"),
        entries: &[
            mlx5("implied_nak_seq_err"),
            mlx5_device("implied_nak_seq_err"),
            bnxt("implied_nak_seq_err"),
            bnxt("missing_resp"),
            irdma("Nak Sequence Error Implied"),
            hfi1("RdmaSeq"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ack_timeout_total",
        help: "Times no answer came before a requester's timer ended and it sent again",
        concept: Some("ack_timeout"),
        entries: &[
            mlx5("local_ack_timeout_err"),
            mlx5_device("local_ack_timeout_err"),
            mlx4("sq_num_to"),
            mlx4_device("sq_num_to"),
            bnxt("local_ack_timeout_err"),
            bnxt("to_retransmits"),
            irdma("RTO"),
            hfi1("RcTimeOut"),
            efa("retrans_timeout_events"),
        ],
        ..COUNTER
    },
    Row {
        // After a timeout or a NAK; soft RoCE does not tell them apart.
        metric: "railwatch_rdma_requester_retries_total",
        help: "Times a requester sent again, for whatever reason",
        concept: Some("ack_timeout"),
        entries: &[rxe("completer_retry_err")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_duplicate_request_total",
        help: "Requests that arrived again: a peer retransmitted",
        concept: Some("duplicate_request"),
        entries: &[
            mlx5("duplicate_request"),
            mlx5_device("duplicate_request"),
            mlx4("rq_num_dup"),
            mlx4_device("rq_num_dup"),
            bnxt("duplicate_request"),
            bnxt("dup_req"),
            hfi1("RcDupRew"),
            rxe("duplicate_request"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_retransmitted_packets_total",
        unit: Unit::Packets,
        help: "Packets or TCP segments sent again",
        concept: Some("retransmitted_packets"),
        entries: &[
            irdma("RetransSegs"),
            irdma("tcpRetransSegs"),
            hfi1("RcResend"),
            efa("retrans_pkts"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_retransmitted_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes sent again",
        concept: Some("retransmitted_bytes"),
        entries: &[efa("retrans_bytes")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_adaptive_retransmissions_total",
        help: "Adaptive retransmissions",
        concept: Some("adaptive_retransmission"),
        entries: &[mlx5("roce_adp_retrans"), mlx5_device("roce_adp_retrans")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_adaptive_retransmission_timeouts_total",
        help: "Adaptive retransmissions that a timeout caused",
        entries: &[
            mlx5("roce_adp_retrans_to"),
            mlx5_device("roce_adp_retrans_to"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_slow_restarts_total",
        help: "Times a connection slowed down and started again after loss",
        concept: Some("slow_restart"),
        entries: &[mlx5("roce_slow_restart"), mlx5_device("roce_slow_restart")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_slow_restart_cnps_total",
        unit: Unit::Packets,
        help: "Congestion notifications that slow restart made",
        entries: &[
            mlx5("roce_slow_restart_cnps"),
            mlx5_device("roce_slow_restart_cnps"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_slow_restart_transitions_total",
        help: "Changes of state of slow restart",
        entries: &[
            mlx5("roce_slow_restart_trans"),
            mlx5_device("roce_slow_restart_trans"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_retry_exceeded_total",
        help: "Times no retry was answered and a connection or peer was given up",
        concept: Some("retry_exceeded"),
        entries: &[
            mlx5("req_transport_retries_exceeded"),
            mlx5_device("req_transport_retries_exceeded"),
            mlx4("sq_num_tree"),
            mlx4_device("sq_num_tree"),
            bnxt("max_retry_exceeded"),
            efa("unresponsive_remote_events"),
            rxe("retry_exceeded_err"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_impaired_connections_total",
        help: "Times the connection to a peer was found impaired",
        concept: Some("impaired_connection"),
        entries: &[efa("impaired_remote_conn_events")],
        ..COUNTER
    },
    // Receiver not ready.
    Row {
        metric: "railwatch_rdma_rnr_nak_received_total",
        help: "Times a peer had no receive buffer ready for what this side sent",
        concept: Some("rnr_nak"),
        entries: &[
            mlx5("rnr_nak_retry_err"),
            mlx5_device("rnr_nak_retry_err"),
            mlx4("sq_num_rnr"),
            mlx4_device("sq_num_rnr"),
            bnxt("rnr_nak_retry_err"),
            bnxt("rnr_naks_rcvd"),
            irdma("RNR received"),
            hfi1("RnrNak"),
            rxe("rcvd_rnr_err"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_rnr_nak_sent_total",
        help: "Times this side had no receive buffer ready and told the peer so",
        concept: Some("rnr_nak_sent"),
        entries: &[
            mlx4("rq_num_rnr"),
            mlx4_device("rq_num_rnr"),
            irdma("RNR sent"),
            rxe("send_rnr_err"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_rnr_retry_exceeded_total",
        help: "Times a peer never had a receive buffer ready and a connection was given up",
        concept: Some("rnr_retry_exceeded"),
        entries: &[
            mlx5("req_rnr_retries_exceeded"),
            mlx5_device("req_rnr_retries_exceeded"),
            mlx4("sq_num_rree"),
            mlx4_device("sq_num_rree"),
            rxe("retry_rnr_exceeded_err"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_out_of_buffer_total",
        unit: Unit::Packets,
        help: "Packets dropped because no receive buffer was posted for them",
        concept: Some("out_of_buffer"),
        entries: &[
            mlx5("out_of_buffer"),
            mlx5_device("out_of_buffer"),
            mlx4_device("rq_num_udsdprd"),
            bnxt("out_of_buffer"),
            bnxt("rx_out_of_buffer"),
        ],
        ..COUNTER
    },
    // Congestion.
    Row {
        metric: "railwatch_rdma_cnp_sent_total",
        unit: Unit::Packets,
        help: "Congestion notifications sent: what arrived here was marked by a congested switch",
        concept: Some("cnp_sent"),
        entries: &[
            mlx5_congestion("np_cnp_sent"),
            mlx5_congestion_device("np_cnp_sent"),
            bnxt("np_cnp_pkts"),
            irdma("cnpSent"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_cnp_handled_total",
        unit: Unit::Packets,
        help: "Congestion notifications received and acted on: this side was slowed down",
        concept: Some("cnp_handled"),
        entries: &[
            mlx5_congestion("rp_cnp_handled"),
            mlx5_congestion_device("rp_cnp_handled"),
            bnxt("rp_cnp_handled"),
            irdma("cnpHandled"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_cnp_ignored_total",
        unit: Unit::Packets,
        help: "Congestion notifications received and not acted on",
        concept: Some("cnp_ignored"),
        entries: &[
            mlx5_congestion("rp_cnp_ignored"),
            mlx5_congestion_device("rp_cnp_ignored"),
            irdma("cnpIgnored"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ecn_marked_total",
        unit: Unit::Packets,
        help: "RDMA packets that arrived marked by a congested switch",
        concept: Some("ecn_marked"),
        entries: &[
            mlx5_congestion("np_ecn_marked_roce_packets"),
            mlx5_congestion_device("np_ecn_marked_roce_packets"),
            bnxt("np_ecn_marked_roce_packets"),
            irdma("RxECNMrkd"),
        ],
        ..COUNTER
    },
    // Corruption, discards and errors of packets.
    Row {
        metric: "railwatch_rdma_icrc_errors_total",
        unit: Unit::Packets,
        help: "RDMA packets with a wrong end-to-end checksum: damaged where no link checksum sees it",
        concept: Some("icrc_error"),
        entries: &[
            mlx5_congestion("rx_icrc_encapsulated"),
            mlx5_congestion_device("rx_icrc_encapsulated"),
            irdma("CRC errors"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_receive_discards_total",
        unit: Unit::Packets,
        help: "RDMA packets received and dropped",
        concept: Some("receive_discard"),
        entries: &[
            bnxt_dma("rx_roce_discards"),
            efa("rx_drops"),
            hfi1("PktDrop"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv4_receive_discards_total",
        unit: Unit::Packets,
        help: "RDMA packets received over IPv4 and dropped",
        concept: Some("receive_discard"),
        entries: &[irdma("ip4InDiscards")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv6_receive_discards_total",
        unit: Unit::Packets,
        help: "RDMA packets received over IPv6 and dropped",
        concept: Some("receive_discard"),
        entries: &[irdma("ip6InDiscards")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_receive_errors_total",
        unit: Unit::Packets,
        help: "RDMA packets received with an error",
        concept: Some("receive_error"),
        entries: &[bnxt_dma("rx_roce_errors")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_transmit_discards_total",
        unit: Unit::Packets,
        help: "RDMA packets dropped on their way out",
        concept: Some("transmit_discard"),
        entries: &[bnxt_dma("tx_roce_discards")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_transmit_errors_total",
        unit: Unit::Packets,
        help: "RDMA packets that could not be sent",
        concept: Some("transmit_error"),
        entries: &[bnxt_dma("tx_roce_errors"), rxe("send_err")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv4_receive_truncated_packets_total",
        unit: Unit::Packets,
        help: "RDMA packets received over IPv4 that were too short",
        entries: &[irdma("ip4InTruncatedPkts")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv6_receive_truncated_packets_total",
        unit: Unit::Packets,
        help: "RDMA packets received over IPv6 that were too short",
        entries: &[irdma("ip6InTruncatedPkts")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv4_no_route_total",
        unit: Unit::Packets,
        help: "RDMA packets for which there was no IPv4 route",
        concept: Some("no_route"),
        entries: &[irdma("ip4OutNoRoutes")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv6_no_route_total",
        unit: Unit::Packets,
        help: "RDMA packets for which there was no IPv6 route",
        concept: Some("no_route"),
        entries: &[irdma("ip6OutNoRoutes")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_vlan_errors_total",
        unit: Unit::Packets,
        help: "RDMA packets received with a wrong VLAN",
        entries: &[irdma("rxVlanErrors")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_tcp_option_errors_total",
        unit: Unit::Packets,
        help: "iWARP segments received with a wrong TCP option",
        entries: &[irdma("InOptErrors"), irdma("tcpInOptErrors")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_tcp_protocol_errors_total",
        unit: Unit::Packets,
        help: "iWARP segments received that break the protocol",
        entries: &[irdma("InProtoErrors"), irdma("tcpInProtoErrors")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_outbound_read_limit_total",
        help: "Times a connection reached its limit of outstanding reads of its own",
        entries: &[irdma("ord limit count")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_inbound_read_limit_total",
        help: "Times a connection reached its limit of outstanding reads of its peer",
        entries: &[irdma("ird limit count")],
        ..COUNTER
    },
    // Completions with an error.
    Row {
        metric: "railwatch_rdma_requester_completion_errors_total",
        help: "Completions of a requester with an error",
        concept: Some("completion_error"),
        entries: &[
            mlx5("req_cqe_error"),
            mlx5_device("req_cqe_error"),
            bnxt("req_cqe_error"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_responder_completion_errors_total",
        help: "Completions of a responder with an error",
        concept: Some("completion_error"),
        entries: &[
            mlx5("resp_cqe_error"),
            mlx5_device("resp_cqe_error"),
            bnxt("resp_cqe_error"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_requester_flush_errors_total",
        help: "Requests flushed when their queue ended, which every normal end with posted work does",
        entries: &[
            mlx5("req_cqe_flush_error"),
            mlx5_device("req_cqe_flush_error"),
            mlx4("sq_num_wrfe"),
            mlx4_device("sq_num_wrfe"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_responder_flush_errors_total",
        help: "Receives flushed when their queue ended, which every normal end with posted work does",
        entries: &[
            mlx5("resp_cqe_flush_error"),
            mlx5_device("resp_cqe_flush_error"),
            mlx4("rq_num_wrfe"),
            mlx4_device("rq_num_wrfe"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_requester_invalid_request_errors_total",
        help: "Requests that a peer refused as invalid",
        concept: Some("invalid_request"),
        entries: &[
            mlx5("req_remote_invalid_request"),
            mlx5_device("req_remote_invalid_request"),
            mlx4("sq_num_rire"),
            mlx4_device("sq_num_rire"),
            bnxt("req_remote_invalid_request"),
            bnxt("remote_invalid_req_err"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_responder_invalid_request_errors_total",
        help: "Requests of peers that were refused as invalid",
        concept: Some("invalid_request"),
        entries: &[mlx4("rq_num_rire"), mlx4_device("rq_num_rire")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_requester_access_errors_total",
        help: "Requests that a peer refused for want of access rights",
        concept: Some("remote_access"),
        entries: &[
            mlx5("req_remote_access_errors"),
            mlx5_device("req_remote_access_errors"),
            mlx4("sq_num_rae"),
            mlx4_device("sq_num_rae"),
            bnxt("req_remote_access_errors"),
            bnxt("remote_access_err"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_responder_access_errors_total",
        help: "Requests of peers that were refused for want of access rights",
        concept: Some("remote_access"),
        entries: &[
            mlx5("resp_remote_access_errors"),
            mlx5_device("resp_remote_access_errors"),
            mlx4("rq_num_rae"),
            mlx4_device("rq_num_rae"),
            bnxt("resp_remote_access_errors"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_requester_remote_operation_errors_total",
        help: "Requests that a peer could not carry out",
        concept: Some("remote_operation"),
        entries: &[
            mlx4("sq_num_roe"),
            mlx4_device("sq_num_roe"),
            bnxt("remote_op_err"),
        ],
        ..COUNTER
    },
    Row {
        // One counter for invalid request, access and operation errors.
        metric: "railwatch_rdma_other_nak_received_total",
        help: "Requests that a peer refused as invalid, for want of access rights or as impossible",
        entries: &[hfi1("OtherNak")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_requester_length_errors_total",
        help: "Requests with a wrong length for their queue",
        entries: &[mlx4("sq_num_lle"), mlx4_device("sq_num_lle")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_responder_length_errors_total",
        help: "Messages received that are longer than the buffer posted for them",
        concept: Some("length_error"),
        entries: &[
            mlx5("resp_local_length_error"),
            mlx5_device("resp_local_length_error"),
            mlx4("rq_num_lle"),
            mlx4_device("rq_num_lle"),
            bnxt("resp_local_length_error"),
            bnxt("res_length_mismatch"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_requester_queue_operation_errors_total",
        help: "Requests that failed in this side's own queue",
        entries: &[
            mlx4("sq_num_lqpoe"),
            mlx4_device("sq_num_lqpoe"),
            bnxt("local_qp_op_err"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_responder_queue_operation_errors_total",
        help: "Receives that failed in this side's own queue",
        entries: &[mlx4("rq_num_lqpoe"), mlx4_device("rq_num_lqpoe")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_requester_protection_errors_total",
        help: "Requests that name local memory they may not use",
        entries: &[
            mlx4("sq_num_lpe"),
            mlx4_device("sq_num_lpe"),
            bnxt("local_protection_err"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_responder_protection_errors_total",
        help: "Receives that name local memory they may not use",
        entries: &[mlx4("rq_num_lpe"), mlx4_device("rq_num_lpe")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_requester_bad_response_errors_total",
        help: "Answers of peers that do not fit the request",
        entries: &[
            mlx4("sq_num_bre"),
            mlx4_device("sq_num_bre"),
            bnxt("bad_resp_err"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_requester_memory_errors_total",
        help: "Requests to bind or manage memory that failed",
        entries: &[
            mlx4("sq_num_mwbe"),
            mlx4_device("sq_num_mwbe"),
            bnxt("mem_mgmt_op_err"),
        ],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_unrecoverable_errors_total",
        help: "Errors that the device could not recover from",
        concept: Some("unrecoverable_error"),
        entries: &[bnxt("unrecoverable_err")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_responder_pci_transmit_errors_total",
        help: "PCIe errors while a responder sent",
        concept: Some("pci_error"),
        entries: &[bnxt("res_tx_pci_err")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_responder_pci_receive_errors_total",
        help: "PCIe errors while a responder received",
        concept: Some("pci_error"),
        entries: &[bnxt("res_rx_pci_err")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_cq_overflows_total",
        help: "Completion queues that overflowed",
        concept: Some("cq_overflow"),
        entries: &[mlx4_device("num_cqovf")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_read_errors_total",
        help: "Read operations of this side that failed",
        entries: &[efa("rdma_read_wr_err")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_write_errors_total",
        help: "Write operations of this side that failed",
        entries: &[efa("rdma_write_wr_err")],
        ..COUNTER
    },
    // Parts of the IP and TCP traffic of Intel's driver.
    Row {
        metric: "railwatch_rdma_ipv4_receive_fragments_total",
        unit: Unit::Packets,
        help: "RDMA packets received over IPv4 that had to be put together",
        entries: &[irdma("ip4InReasmRqd")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv6_receive_fragments_total",
        unit: Unit::Packets,
        help: "RDMA packets received over IPv6 that had to be put together",
        entries: &[irdma("ip6InReasmRqd")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv4_transmit_fragments_total",
        unit: Unit::Packets,
        help: "RDMA packets sent over IPv4 that had to be split",
        entries: &[irdma("ip4OutSegRqd")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv6_transmit_fragments_total",
        unit: Unit::Packets,
        help: "RDMA packets sent over IPv6 that had to be split",
        entries: &[irdma("ip6OutSegRqd")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv4_multicast_receive_packets_total",
        unit: Unit::Packets,
        help: "Multicast packets received by RDMA over IPv4",
        entries: &[irdma("ip4InMcastPkts")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv6_multicast_receive_packets_total",
        unit: Unit::Packets,
        help: "Multicast packets received by RDMA over IPv6",
        entries: &[irdma("ip6InMcastPkts")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv4_multicast_transmit_packets_total",
        unit: Unit::Packets,
        help: "Multicast packets sent by RDMA over IPv4",
        entries: &[irdma("ip4OutMcastPkts")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv6_multicast_transmit_packets_total",
        unit: Unit::Packets,
        help: "Multicast packets sent by RDMA over IPv6",
        entries: &[irdma("ip6OutMcastPkts")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv4_multicast_receive_bytes_total",
        unit: Unit::Bytes,
        help: "Multicast bytes received by RDMA over IPv4",
        entries: &[irdma("ip4InMcastOctets")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv6_multicast_receive_bytes_total",
        unit: Unit::Bytes,
        help: "Multicast bytes received by RDMA over IPv6",
        entries: &[irdma("ip6InMcastOctets")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv4_multicast_transmit_bytes_total",
        unit: Unit::Bytes,
        help: "Multicast bytes sent by RDMA over IPv4",
        entries: &[irdma("ip4OutMcastOctets")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ipv6_multicast_transmit_bytes_total",
        unit: Unit::Bytes,
        help: "Multicast bytes sent by RDMA over IPv6",
        entries: &[irdma("ip6OutMcastOctets")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_udp_receive_packets_total",
        unit: Unit::Packets,
        help: "UDP packets received by RDMA",
        entries: &[irdma("RxUDP")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_udp_transmit_packets_total",
        unit: Unit::Packets,
        help: "UDP packets sent by RDMA",
        entries: &[irdma("TxUDP")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_tcp_receive_segments_total",
        unit: Unit::Packets,
        help: "TCP segments received by iWARP",
        entries: &[irdma("InSegs"), irdma("tcpInSegs")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_tcp_transmit_segments_total",
        unit: Unit::Packets,
        help: "TCP segments sent by iWARP",
        entries: &[irdma("OutSegs"), irdma("tcpOutSegs")],
        ..COUNTER
    },
    // Commands of the driver to an adapter.
    Row {
        metric: "railwatch_rdma_admin_commands_submitted_total",
        help: "Commands the driver gave to the adapter",
        entries: &[efa_device("submitted_cmds")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_admin_commands_completed_total",
        help: "Commands the adapter answered",
        entries: &[efa_device("completed_cmds")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_admin_command_errors_total",
        help: "Commands the adapter refused",
        concept: Some("admin_command_error"),
        entries: &[efa_device("cmds_err")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_admin_commands_unanswered_total",
        help: "Commands the adapter never answered",
        concept: Some("admin_command_unanswered"),
        entries: &[efa_device("no_completion_cmds")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_keep_alives_received_total",
        help: "Signs of life from the adapter",
        entries: &[efa_device("keep_alive_rcvd")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_pd_create_errors_total",
        help: "Protection domains that could not be made",
        entries: &[efa_device("alloc_pd_err")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_qp_create_errors_total",
        help: "Queue pairs that could not be made",
        entries: &[efa_device("create_qp_err")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_cq_create_errors_total",
        help: "Completion queues that could not be made",
        entries: &[efa_device("create_cq_err")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_mr_register_errors_total",
        help: "Memory regions that could not be registered",
        entries: &[efa_device("reg_mr_err")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_context_create_errors_total",
        help: "User contexts that could not be made",
        entries: &[efa_device("alloc_ucontext_err")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_ah_create_errors_total",
        help: "Address handles that could not be made",
        entries: &[efa_device("create_ah_err")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_rdma_mmap_errors_total",
        help: "Mappings of device memory that failed",
        entries: &[efa_device("mmap_err")],
        ..COUNTER
    },
];

const COUNTER: Row = Row {
    metric: "",
    unit: Unit::Events,
    kind: Kind::Counter,
    help: "",
    concept: None,
    yields_to: None,
    lane: Lane::Fast,
    source: Source::Infiniband,
    entries: &[],
};

/// The kernel core keeps what a driver gave for `lifespan`, 10 ms unless root changed it.
const CACHE_MS: u32 = 10;

const fn hw(driver: Driver, file: File, source: &'static str) -> Entry {
    Entry {
        driver,
        file,
        form: Form::Number,
        scale: 1,
        width: 64,
        at_top: AtTop::Wrap,
        native_refresh_ms: CACHE_MS,
        cost: Cost::Firmware,
        scope: Scope::Function,
        source,
    }
}

/// A q-counter: 32 bits in the firmware's answer. Whether it sticks or wraps there is not known;
/// a fall that is no reset is taken for a wrap.
const fn mlx5(file: &'static str) -> Entry {
    Entry {
        width: 32,
        ..hw(
            Driver::Mlx5,
            File::PortHwCounters(file),
            "K:drivers/infiniband/hw/mlx5/counters.c",
        )
    }
}

/// The same of a PF in switchdev mode, whose counters move to the device.
const fn mlx5_device(file: &'static str) -> Entry {
    Entry {
        file: File::DeviceHwCounters(file),
        ..mlx5(file)
    }
}

/// A congestion or checksum counter: 64 bits, of the physical port as far as is known.
const fn mlx5_congestion(file: &'static str) -> Entry {
    Entry {
        width: 64,
        scope: Scope::Port,
        ..mlx5(file)
    }
}

const fn mlx5_congestion_device(file: &'static str) -> Entry {
    Entry {
        file: File::DeviceHwCounters(file),
        ..mlx5_congestion(file)
    }
}

/// `rq` is the responder, `sq` the requester.
const fn mlx4(file: &'static str) -> Entry {
    Entry {
        width: 32,
        scope: Scope::Port,
        ..hw(
            Driver::Mlx4,
            File::PortHwCounters(file),
            "K:drivers/infiniband/hw/mlx4/main.c",
        )
    }
}

const fn mlx4_device(file: &'static str) -> Entry {
    Entry {
        file: File::DeviceHwCounters(file),
        scope: Scope::Device,
        ..mlx4(file)
    }
}

/// Names of 7.2 go before those of 6.1. After one failed query the driver stops to ask, and the
/// numbers stand still.
const fn bnxt(file: &'static str) -> Entry {
    hw(
        Driver::BnxtRe,
        File::PortHwCounters(file),
        "K:drivers/infiniband/hw/bnxt_re/hw_counters.c",
    )
}

/// From the driver's own statistics context, which is marked as RoCE's and which the device writes
/// to memory once a second (`bnxt_re_net_stats_ctx_alloc`).
const fn bnxt_dma(file: &'static str) -> Entry {
    Entry {
        native_refresh_ms: 1_000,
        cost: Cost::Dma,
        ..bnxt(file)
    }
}

/// Fields of 24 to 56 bits that the driver extends to 64. Names of 7.2 go before those of 6.1; the
/// third generation's hold spaces.
const fn irdma(file: &'static str) -> Entry {
    hw(
        Driver::Irdma,
        File::PortHwCounters(file),
        "K:drivers/infiniband/hw/irdma/verbs.c",
    )
}

/// The driver's software counters alone: the hundreds of others are the chip's.
const fn hfi1(file: &'static str) -> Entry {
    Entry {
        cost: Cost::Free,
        scope: Scope::Port,
        ..hw(
            Driver::Hfi1,
            File::PortHwCounters(file),
            "K:drivers/infiniband/hw/hfi1/chip.c",
        )
    }
}

const fn efa(file: &'static str) -> Entry {
    hw(
        Driver::Efa,
        File::PortHwCounters(file),
        "K:drivers/infiniband/hw/efa/efa_verbs.c",
    )
}

/// Counts of the driver itself.
const fn efa_device(file: &'static str) -> Entry {
    Entry {
        file: File::DeviceHwCounters(file),
        cost: Cost::Free,
        scope: Scope::Device,
        ..efa(file)
    }
}

const fn rxe(file: &'static str) -> Entry {
    Entry {
        cost: Cost::Free,
        scope: Scope::Device,
        ..hw(
            Driver::Rxe,
            File::PortHwCounters(file),
            "K:drivers/infiniband/sw/rxe/rxe_hw_counters.c",
        )
    }
}
