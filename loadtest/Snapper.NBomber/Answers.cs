using NBomber.Contracts;
using NBomber.CSharp;
using Snapper.Client.Messages;

namespace Snapper.NBomberHost;

/// <summary>Outcomes as NBomber's responses: its table of status codes is then the table of abort reasons.</summary>
internal static class Answers
{
    /// <summary>Begins the status code of an abort: <c>abort.conflict</c>.</summary>
    public const string Abort = "abort.";

    /// <summary>The one abort that a workload asks for: it is an answer, no failure.</summary>
    public const string Application = Abort + "application";

    public static IResponse Of(TransactionReply reply) => reply.Outcome switch
    {
        TransactionOutcome.Committed => Response.Ok(statusCode: "committed"),
        TransactionOutcome.Aborted when reply.Abort?.ReasonName == "application" => Response.Ok(statusCode: Application),
        TransactionOutcome.Aborted => Response.Fail(statusCode: Abort + (reply.Abort?.ReasonName ?? "unknown"), message: reply.Abort?.Message ?? ""),
        TransactionOutcome.Rejected => Response.Fail(statusCode: "refused." + (reply.Rejection?.Status ?? 500), message: reply.Rejection?.Detail ?? ""),
        _ => Response.Fail(statusCode: "in-doubt", message: reply.Doubt ?? ""),
    };
}
