//! Which method is answered by what.

use lsp_server::{ErrorCode, Notification, Request, Response};
use lsp_types::{
    CodeActionParams, CompletionParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, DocumentFormattingParams, DocumentSymbolParams,
    GotoDefinitionParams, HoverParams, ReferenceParams, RenameParams, TextDocumentPositionParams, TextEdit,
};
use policy_lang::SourceFile;
use policy_lang::format::{FormatError, format};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::State;
use super::state::Place;
use crate::{actions, completion, definition, hover, rename, symbols};

/// A request that is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    code: ErrorCode,
    message: String,
}

impl Refusal {
    /// The request makes sense, and cannot be done.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::RequestFailed,
            message: message.into(),
        }
    }
}

pub(super) fn answer(state: &mut State, request: Request) -> Response {
    let response_result = match answered(state, &request.method, request.params) {
        Ok(value) => Ok(value),
        Err(Refusal { code, message }) => {
            return Response::new_err(request.id, code as i32, message);
        }
    };
    Response {
        id: request.id,
        response_result,
    }
}

fn answered(state: &mut State, method: &str, params: Value) -> Result<Value, Refusal> {
    match method {
        "textDocument/hover" => {
            let params: HoverParams = read(params)?;
            at(state, &params.text_document_position_params, hover::at)
        }
        "textDocument/completion" => {
            let params: CompletionParams = read(params)?;
            at(state, &params.text_document_position, completion::at)
        }
        "textDocument/definition" => {
            let params: GotoDefinitionParams = read(params)?;
            at(state, &params.text_document_position_params, definition::at)
        }
        "textDocument/references" => {
            let params: ReferenceParams = read(params)?;
            at(state, &params.text_document_position, rename::references)
        }
        "textDocument/prepareRename" => {
            let params: TextDocumentPositionParams = read(params)?;
            at(state, &params, rename::prepare)
        }
        "textDocument/rename" => {
            let params: RenameParams = read(params)?;
            let place = state.place(&params.text_document_position)?;
            write(&rename::rename(&place, &params.new_name)?)
        }
        "textDocument/documentSymbol" => {
            let params: DocumentSymbolParams = read(params)?;
            let place = state.whole(&params.text_document.uri)?;
            write(&symbols::of(&place))
        }
        "textDocument/codeAction" => {
            let params: CodeActionParams = read(params)?;
            let place = state.whole(&params.text_document.uri)?;
            write(&actions::of(&place, &params))
        }
        "textDocument/formatting" => {
            let params: DocumentFormattingParams = read(params)?;
            let place = state.whole(&params.text_document.uri)?;
            write(&formatted(&place)?)
        }
        // Ours: the text of a file that comes with the language.
        "remit/standardGroup" => {
            let name: String = read(params)?;
            write(&definition::standard_text(&name))
        }
        _ => Err(Refusal {
            code: ErrorCode::MethodNotFound,
            message: format!("`{method}` is not known here"),
        }),
    }
}

fn at<T: Serialize>(
    state: &mut State,
    params: &TextDocumentPositionParams,
    answer: impl FnOnce(&Place<'_>) -> T,
) -> Result<Value, Refusal> {
    let place = state.place(params)?;
    write(&answer(&place))
}

fn formatted(place: &Place<'_>) -> Result<Vec<TextEdit>, Refusal> {
    let source = SourceFile::new("buffer", place.document.text.clone());
    match format(&source) {
        Ok(text) if text == source.text => Ok(Vec::new()),
        Ok(text) => {
            let whole = policy_lang::Span::new(0, source.text.len());
            Ok(vec![TextEdit::new(place.range(whole), text)])
        }
        Err(FormatError::Mistakes(_)) => Err(Refusal::failed("the file has errors; repair them first")),
        Err(fault) => Err(Refusal::failed(fault.to_string())),
    }
}

/// Applies a notification. One that makes no sense has nobody to be told.
pub(super) fn note(state: &mut State, notification: Notification) {
    let params = notification.params;
    match notification.method.as_str() {
        "textDocument/didOpen" => {
            if let Ok(params) = serde_json::from_value::<DidOpenTextDocumentParams>(params) {
                let document = params.text_document;
                state.open(document.uri, document.version, document.text);
            }
        }
        "textDocument/didChange" => {
            if let Ok(params) = serde_json::from_value::<DidChangeTextDocumentParams>(params) {
                let document = params.text_document;
                state.change(&document.uri, document.version, params.content_changes);
            }
        }
        "textDocument/didSave" => {
            if let Ok(params) = serde_json::from_value::<DidSaveTextDocumentParams>(params) {
                state.touched(&params.text_document.uri);
            }
        }
        "textDocument/didClose" => {
            if let Ok(params) = serde_json::from_value::<DidCloseTextDocumentParams>(params) {
                state.close(&params.text_document.uri);
            }
        }
        // Files changed on disk: whoever reads them looks again.
        "workspace/didChangeWatchedFiles" => state.all_touched(),
        _ => {}
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|error| Refusal {
        code: ErrorCode::InvalidParams,
        message: error.to_string(),
    })
}

fn write(value: &impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(value).map_err(|error| Refusal {
        code: ErrorCode::InternalError,
        message: error.to_string(),
    })
}
